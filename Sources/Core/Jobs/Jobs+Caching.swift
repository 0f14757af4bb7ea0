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

/// HTTP caching in a flight: the conditional request for a stored source, and the use of a 304.
extension Jobs {
    /// Stored rows as a request sent now may use them. If `Vary` says that the stored response was for other headers,
    /// it is not fresh and replaces nothing. Rows stored by a clock that was ahead are not fresh either. Every snapshot
    /// of a job's flight passes through here.
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
        // The host's own rules are looked up for few snapshots only, because that costs more than everything else here.
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
        // By index, because a closure would get a copy of each row.
        let rows = snapshot.variants
        for place in rows.indices
        where rules.isBeyond(stored: rows[place].storedAt, expires: rows[place].expires, at: now) { return true }
        return false
    }

    /// Validators for a conditional request. nil unless a 304 is enough, because a 304 brings no body.
    func known(of flight: Flight, _ now: Moment) -> CachePolicy? {
        // A refusal is newer than the stored rows, if there are any.
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
        // Without a body, pixels cannot be examined.
        return plan.toFetch.isEmpty && !wanted.contains(where: \.isAuto) ? source.policy : nil
    }

    package mutating func notModified(
        _ id: FlightID, _ head: ResponseHead, _ now: Moment, _ effects: inout [JobEffect]
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

    /// End of the response's freshness, by its own headers and by those of the redirects that led to it. The redirects
    /// add to its policy.
    func freshUntil(_ policy: inout CachePolicy, _ head: ResponseHead, _ flight: Flight, _ now: Moment) -> WallTime {
        let (rules, place) = (rules.freshness(of: flight.origin), flight.source.place)
        policy.control.redirects = head.hops.restrictions
        let end = rules.freshUntil(policy, head.fields, asked: now.wall - head.elapsed, place: place)
        return head.hops.freshUntil(end, rules, place: place)
    }

    /// Handles the confirmation that the source still gives no usable image.
    private mutating func confirmed(
        _ refusal: RecentRefusals.Refusal, of flight: Flight, _ head: ResponseHead, _ now: Moment,
        _ effects: inout [JobEffect]
    ) {
        effects.append(.work(.checked(flight.origin, .notModified)))
        let validators = refusal.validators.updated(by: head.fields, sent: head.sent, now: now.wall)
        let report = Unfetched(refusal.note, .responded(bytes: 0), .absent, validators: validators)
        unfetched(flight.id, report, now, &effects)
    }
}

extension Flight {
    /// Whether the source's bytes are here, to render from.
    var hasBody: Bool { course?.fetched?.picture != nil }

    /// Stored variants of other bytes that the batch replaces, with the variants derived from them. Derived variants
    /// stay if their donor does.
    func replaced(by batch: RenderBatch?) -> [VariantSpec: VariantRow] {
        guard let batch, let version = fetched?.version, hasBody else { return [:] }
        let made = Set(batch.orders.map(\.spec))
        let old = snapshot.variants.filter {
            $0.version != version && (made.contains($0.spec) || $0.donor.map(made.contains) ?? false)
        }
        return Dictionary(old.map { ($0.spec, $0) }) { first, _ in first }
    }

    /// The change from the stored bytes of the source to the new ones. It includes a change that an earlier owner left
    /// and that this one completes.
    func change(from known: SourceRow, to row: SourceRow) -> SourceChange {
        let outdated = snapshot.variants.filter { $0.version != row.version }
        var change = SourceChange(from: known, to: row, stored: outdated.map { SourceChange.Stored($0) })
        change.add(left?.stored ?? [])
        return change
    }

    /// Variants to render next. Variants that were rendered together are rendered together again, because the variants
    /// of a decode affect each other's bytes. If the bytes stay identical, consumers need no change event. `storedAt`
    /// identifies the decode: `JobSteps` gives all its rows the same value, and two decodes of a source take longer
    /// than a millisecond. Variants derived from a donor come after that.
    var next: [VariantSpec] {
        let (missing, rows) = (missing, outdatedRows)
        let old = Dictionary(rows.map { ($0.spec, $0) }) { first, _ in first }
        guard let row = missing.first.flatMap({ old[$0] }) else { return missing.filter { old[$0] == nil } }
        let first = row.donor.flatMap { old[$0] } ?? row
        return rows.filter { row in
            row.spec == first.spec || (row.storedAt == first.storedAt && row.donor == nil)
        }.map(\.spec)
    }

    /// Change to report with the batch, if the batch completes it: no outdated stored variant is left.
    func change(completedBy batch: RenderBatch?) -> SourceChange? {
        let left = Set(outdated).subtracting(batch?.orders.map(\.spec) ?? [])
        return left.isEmpty ? course?.change : nil
    }

    /// PendingRefresh that another owner must pay if this one crashes after the batch is announced.
    ///
    /// - Parameter life: how long its origin may be unavailable.
    func pendingRefresh(after batch: RenderBatch?, at now: WallTime, life: Duration) -> PendingRefresh? {
        guard let course, !course.hasPendingRefresh, let change = course.change, let pending = pendingJobs.first,
            let left = outdated.first(where: { spec in batch?.orders.contains { $0.spec == spec } != true })
        else { return nil }
        let job = Job(
            id: "\(Job.changePrefix)\(source.hex)-\(change.id)-\(change.at.milliseconds)", url: url, source: source,
            variants: [left], lane: .background, expires: RecordLimits.time(now + life))
        return PendingRefresh(
            job: job, notBefore: now, for: origin, cause: FailureNote(RetryCause.sourceChanged), after: pending.record,
            change: change)
    }
}

extension PendingJob {
    /// The rest of a source's change that a crashed owner left. nil if all of it is rendered again, or a later change
    /// came.
    func change(in snapshot: SourceSnapshot) -> SourceChange? {
        guard var change = SourceChange(of: job, in: record), snapshot.source?.version == change.to else { return nil }
        let outdated = snapshot.variants.filter { $0.version != change.to }
        // Earlier programs list only the variants that they rendered again.
        change.add(outdated.map { SourceChange.Stored($0) })
        return outdated.isEmpty ? nil : change
    }
}

extension Jobs {
    /// Ends the job of a source's change, because all variants are rendered again, by any job, or no more can be.
    /// Reports the change if that has not happened yet.
    mutating func end(
        change pending: PendingJob, _ kind: OutcomeKind, _ snapshot: SourceSnapshot, variants: VariantOutcomes = [],
        failure: FailureNote? = nil, at now: Moment, _ effects: inout [JobEffect]
    ) {
        let change = SourceChange(of: pending.job, in: pending.record)
        let changed = change.map { reportedChanges.contains($0.id) ? [] : $0.variants(by: snapshot.variants) } ?? []
        guard let change, !changed.isEmpty else {
            return effects.complete(pending, kind, variants: variants, failure: failure, at: now)
        }
        let outcome = pending.outcome(kind, variants: variants, failure: failure, at: now.wall)
        effects.append(.work(.complete(pending.record, .changed(change, changed, outcome))))
    }

    /// Remembers that the change was reported, so its job need not report it again. A forgotten change is reported
    /// twice under one id.
    mutating func noteReported(_ change: SourceChange) {
        if reportedChanges.count >= 1_000 { reportedChanges = [] }
        reportedChanges.insert(change.id)
    }
}

extension VariantRow {
    /// The variant that this one was derived from, if any.
    package var donor: VariantSpec? { if case .donor(let spec) = derivedFrom, spec != self.spec { spec } else { nil } }
}

extension SourceRow {
    /// Whether the original may be kept. If the origin forbids storing it, only the requested variants are kept.
    package var mayKeepOriginal: Bool { !policy.control.noStore }

    /// The row as announced: a fetched source has its new location, a confirmed one keeps its own.
    package func kept(at original: String?, _ picture: FetchedPicture?) -> SourceRow {
        guard picture != nil else { return self }
        var row = self
        row.original = original
        return row
    }

    /// The row with the knowledge about its alpha that its rendered variants give. A clear pixel shows in a PNG, WebP
    /// or AVIF of the whole source, if its sides are reduced to a 21st at most. `Renderer.isOpaque` uses the same
    /// limit.
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
        derivedFrom == .origin && !spec.hasExtras && region == Region(whole: source)
            && size.width * 21 >= source.width && size.height * 21 >= source.height
    }
}

extension SourceSnapshot {
    /// Replaces the rows of the same specs.
    mutating func renew(_ rows: [VariantRow]) {
        for row in rows {
            variants.removeAll { $0.spec == row.spec }
            variants.append(row)
        }
    }
}
