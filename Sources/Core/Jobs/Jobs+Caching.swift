internal import Canonical
package import Clocks
internal import Failures
internal import HTTPCache
internal import Hosts
package import ImageModel
internal import Images
package import Ledger
internal import Planning
package import Ports
internal import Records
package import VariantSpec

/// What HTTP caching adds to a flight: it asks whether what is stored still holds, and what it does with a yes.
extension Jobs {
    /// What is stored, as a request may use it that is sent now: where `Vary` says that its answer was for other headers, it
    /// is fresh no longer, and stands in for nothing. What a clock stored that was ahead is fresh no longer, either. All that a
    /// job's flight knows goes through here.
    func usable(_ snapshot: SourceSnapshot, _ url: SourceURL, at now: WallTime) -> SourceSnapshot {
        var snapshot = withoutFuture(snapshot, url, at: now)
        guard let sent = rules.sent, let policy = snapshot.source?.policy, let selection = policy.selection,
            !selection.isUnknown, !selection.fits(sent.all(for: policy.location ?? url.fetched))
        else { return snapshot }
        snapshot.source?.policy.isOfOtherHeaders = true
        snapshot.source?.expires = SourceSnapshot.takenForExpired
        for place in snapshot.variants.indices { snapshot.variants[place].expires = SourceSnapshot.takenForExpired }
        return snapshot
    }

    private func withoutFuture(_ snapshot: SourceSnapshot, _ url: SourceURL, at now: WallTime) -> SourceSnapshot {
        // Whose host has rules of its own is found out for few: that costs more than all else here.
        guard hasFuture(snapshot, rules.freshness, now) else { return snapshot }
        let rules = rules.freshness(of: rules.origins.groups.origin(of: url.fetched))
        guard hasFuture(snapshot, rules, now) else { return snapshot }
        var kept = snapshot
        if let row = snapshot.source, rules.isBeyond(stored: row.fetchedAt, expires: row.expires, at: now) {
            kept.source?.expires = now
        }
        for (place, row) in snapshot.variants.enumerated()
        where rules.isBeyond(stored: row.storedAt, expires: row.expires, at: now) {
            kept.variants[place].expires = SourceSnapshot.takenForExpired
        }
        return kept
    }

    private func hasFuture(_ snapshot: SourceSnapshot, _ rules: FreshnessRules, _ now: WallTime) -> Bool {
        if let row = snapshot.source, rules.isBeyond(stored: row.fetchedAt, expires: row.expires, at: now) {
            return true
        }
        // By place: a closure would get a copy of each row.
        let rows = snapshot.variants
        for place in rows.indices
        where rules.isBeyond(stored: rows[place].storedAt, expires: rows[place].expires, at: now) { return true }
        return false
    }

    /// What the origin is asked to confirm: only where a yes is enough, since it brings no body.
    func known(of flight: Flight, _ now: Moment) -> CachePolicy? {
        // That is newer than what is stored, if anything is.
        if let refusal = flight.refusal { return refusal.validators }
        guard flight.fetched == nil, flight.left == nil, let source = flight.snapshot.source,
            !source.policy.conditions.isEmpty
        else {
            return nil
        }
        var reuse = rules.reuse
        reuse.allowsStale = true
        let wanted = flight.pendingJobs.flatMap { $0.choosing(by: source, rules.qualities).job.variants }
            .filter { flight.results[$0] == nil }
        let plan = Plan(wanted, snapshot: flight.snapshot, now: now.wall, rules: reuse)
        // Without a body nobody looks at pixels.
        return plan.toFetch.isEmpty && !wanted.contains(where: \.isAuto) ? source.policy : nil
    }

    package mutating func notModified(
        _ id: FlightID, _ head: AnswerHead, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        guard let flight = flights[id], case .fetching(_, let course) = flight.stage else { return }
        if let refusal = flight.refusal { return confirmed(refusal, of: flight, head, now, &effects) }
        guard var row = flight.snapshot.source else { return }
        effects.append(.work(.checked(flight.origin, .notModified)))
        row.policy = row.policy.updated(by: head.fields, sent: head.sent, now: now.wall)
        row.expires = freshUntil(&row.policy, head, flight, now)
        row.fetchedAt = now.wall
        goOn(flight, course, Flight.Fetched(row: row, picture: nil), &effects)
    }

    /// How long the answer is fresh, by what it says itself and by the redirects that led to it: these add to its policy.
    func freshUntil(_ policy: inout CachePolicy, _ head: AnswerHead, _ flight: Flight, _ now: Moment) -> WallTime {
        let (rules, place) = (rules.freshness(of: flight.origin), flight.source.place)
        policy.control.redirects = head.hops.restrictions
        let end = rules.freshUntil(policy, head.fields, asked: now.wall - head.elapsed, place: place)
        return head.hops.freshUntil(end, rules, place: place)
    }

    /// It still gives nothing to make pictures of.
    private mutating func confirmed(
        _ refusal: RecentRefusals.Refusal, of flight: Flight, _ head: AnswerHead, _ now: Moment,
        _ effects: inout [JobEffect]
    ) {
        effects.append(.work(.checked(flight.origin, .notModified)))
        let validators = refusal.validators.updated(by: head.fields, sent: head.sent, now: now.wall)
        let report = Unfetched(refusal.note, .answered(bytes: 0), .absent, validators: validators)
        unfetched(flight.id, report, now, &effects)
    }
}

extension Flight {
    /// Whether the source itself is here, to render from.
    var hasBody: Bool { course?.fetched?.picture != nil }

    /// What is stored of other bytes and takes its place with the batch; and what was made of that, which stays if that
    /// does.
    func replaced(by batch: RenderBatch?) -> [VariantSpec: VariantRow] {
        guard let batch, let version = fetched?.version, hasBody else { return [:] }
        let made = Set(batch.orders.map(\.spec))
        let old = snapshot.variants.filter {
            $0.version != version && (made.contains($0.spec) || $0.donor.map(made.contains) ?? false)
        }
        return Dictionary(old.map { ($0.spec, $0) }) { first, _ in first }
    }

    /// What its source's other bytes take the place of. A change that was left to this owner, and is over by this one, is
    /// told with it.
    func change(from known: SourceRow, to row: SourceRow) -> SourceChange {
        let outdated = snapshot.variants.filter { $0.version != row.version }
        var change = SourceChange(from: known, to: row, stored: outdated.map { SourceChange.Stored($0) })
        change.add(left?.stored ?? [])
        return change
    }

    /// What was made together is made together again: which variants share a decode decides about their bytes, and who has
    /// bytes that are the same need not be told. `storedAt` names the decode: `JobSteps` gives all its rows one, and two decodes
    /// of a source take longer than its millisecond. What was made of a donor comes after that.
    var next: [VariantSpec] {
        let (missing, rows) = (missing, outdatedRows)
        let old = Dictionary(rows.map { ($0.spec, $0) }) { first, _ in first }
        guard let row = missing.first.flatMap({ old[$0] }) else { return missing.filter { old[$0] == nil } }
        let first = row.donor.flatMap { old[$0] } ?? row
        return rows.filter { row in
            row.spec == first.spec || (row.storedAt == first.storedAt && row.donor == nil)
        }.map(\.spec)
    }

    /// What is to be told with the batch: that its source has changed, if nothing is left of what was stored then.
    func change(completedBy batch: RenderBatch?) -> SourceChange? {
        let left = Set(outdated).subtracting(batch?.orders.map(\.spec) ?? [])
        return left.isEmpty ? course?.change : nil
    }

    /// What another owner is to do if this one dies after the batch is announced.
    ///
    /// - Parameter life: for how long its origin may be away.
    func debt(after batch: RenderBatch?, at now: WallTime, life: Duration) -> Debt? {
        // The only job may have been moved aside: its next try finds what it asked for, and nothing of the change.
        guard let course, !course.isOwed, let change = course.change, let pending = pendingJobs.first ?? aside.first,
            let left = outdated.first(where: { spec in batch?.orders.contains { $0.spec == spec } != true })
        else { return nil }
        let job = Job(
            id: "\(Job.changePrefix)\(source.hex)-\(change.id)-\(change.at.milliseconds)", url: url, source: source,
            variants: [left], lane: .background, expires: RecordLimits.time(now + life))
        return Debt(
            job: job, notBefore: now, cause: FailureNote(RetryCause.sourceChanged), after: pending.record,
            change: change)
    }
}

extension PendingJob {
    /// What is left of a source's change by an owner that died: nil where all of it is made anew, or of a later one.
    func change(in snapshot: SourceSnapshot) -> SourceChange? {
        guard var change = SourceChange(of: job, in: record), snapshot.source?.version == change.to else { return nil }
        let outdated = snapshot.variants.filter { $0.version != change.to }
        // Programs of before tell only of what they made anew.
        change.add(outdated.map { SourceChange.Stored($0) })
        return outdated.isEmpty ? nil : change
    }
}

extension Jobs {
    /// All of a source's change is made anew, by whatever job, or nothing more can be: its own job ends, and tells of it if
    /// nobody did.
    mutating func end(
        change pending: PendingJob, _ kind: OutcomeKind, _ snapshot: SourceSnapshot, variants: VariantOutcomes = [],
        failure: FailureNote? = nil, at now: Moment, _ effects: inout [JobEffect]
    ) {
        let change = SourceChange(of: pending.job, in: pending.record)
        let changed = change.map { toldChanges.contains($0.id) ? [] : $0.variants(by: snapshot.variants) } ?? []
        guard let change, !changed.isEmpty else {
            return effects.answer(pending, kind, variants: variants, failure: failure, at: now)
        }
        let outcome = pending.outcome(kind, variants: variants, failure: failure, at: now.wall)
        effects.append(.work(.answer(pending.record, .changed(change, changed, outcome))))
    }

    /// Its job need not tell of it again. One that is forgotten is told twice, by one id.
    mutating func noteTold(_ change: SourceChange) {
        if toldChanges.count >= 1_000 { toldChanges = [] }
        toldChanges.insert(change.id)
    }
}

extension VariantRow {
    /// What it was made of, where that was a variant.
    package var donor: VariantSpec? { if case .donor(let spec) = madeFrom, spec != self.spec { spec } else { nil } }
}

extension SourceRow {
    /// What its origin forbids to store is kept as the variants alone that were asked for.
    package var mayKeepOriginal: Bool { !policy.control.noStore }

    /// As it is announced: what was fetched is kept there, and what was confirmed where it was.
    package func kept(at original: String?, _ picture: FetchedPicture?) -> SourceRow {
        guard picture != nil else { return self }
        var row = self
        row.original = original
        return row
    }

    /// The row with what its rendered variants show of its alpha. A clear pixel shows in a PNG, WebP or AVIF of the whole
    /// source if that is reduced to a 21st of its sides at most, as in `Renderer.isOpaque`.
    package func checked(by rows: [VariantRow]) -> SourceRow {
        guard isAlphaUnchecked else { return self }
        var row = self
        let telling = rows.filter { $0.version == version && [.png, .webp, .avif].contains($0.spec.format) }
        if telling.contains(where: { $0.hasAlpha && !$0.spec.extras.addsAlpha }) {
            row.isAlphaUnchecked = false
        } else if telling.contains(where: { $0.showsWhole(of: size) && !$0.hasAlpha }) {
            (row.hasAlpha, row.isAlphaUnchecked) = (false, false)
        }
        return row
    }
}

extension VariantRow {
    fileprivate func showsWhole(of source: PixelSize) -> Bool {
        madeFrom == .origin && !spec.hasExtras && region == Region(whole: source)
            && size.width * 21 >= source.width && size.height * 21 >= source.height
    }
}

extension SourceSnapshot {
    /// Rows take the place of those of their specs.
    mutating func renew(_ rows: [VariantRow]) {
        for row in rows {
            variants.removeAll { $0.spec == row.spec }
            variants.append(row)
        }
    }
}
