internal import Canonical
package import Clocks
package import Failures
internal import HTTPCache
internal import Hosts
package import ImageModel
internal import Images
package import Ledger
internal import Permits
internal import Planning
package import Ports
package import Records
package import VariantSpec

/// Steps of a flight: plan → fetch → render → announce → fold → outcome, in this order.
extension Jobs {
    /// Continues the flight with its next plan: another permit, or its end.
    private mutating func advance(_ id: FlightID, _ now: Moment, _ effects: inout [JobEffect]) {
        guard var flight = flights[id] else { return }
        let missing = flight.missing
        guard !missing.isEmpty else { return land(id, now, &effects) }
        if flight.mustAsk { return wait(for: .fetch, id, now, &effects) }
        let plan = plan(missing, flight, now)
        flight.keep(plan.unchanged)
        flights[id] = flight
        if plan.isUnchanged { return land(id, now, &effects) }
        wait(for: flight.hasBody || !plan.reuses.isEmpty ? .render : .fetch, id, now, &effects)
    }

    /// Plan of the flight. A source that its origin has just confirmed may be used, however short its freshness.
    func plan(_ missing: [VariantSpec], _ flight: Flight, _ now: Moment) -> Plan {
        var reuse = rules.reuse
        if flight.fetched != nil { reuse.allowsStale = true }
        return Plan(missing, snapshot: flight.snapshot, now: now.wall, rules: reuse)
    }

    private mutating func wait(
        for kind: PermitKind, _ id: FlightID, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        guard var flight = flights[id] else { return }
        if kind == .fetch, flight.pendingJobs.allSatisfy({ $0.job.freshness == .cacheOnly }) {
            // Variants that were rendered before get their outcome once their rows are applied.
            let note = FailureNote(CacheFailure.notStored)
            for spec in flight.missing {
                flights[id]?.results[spec] = VariantOutcome(spec: spec, kind: .failed, row: nil, failure: note)
            }
            return land(id, now, &effects)
        }
        flight.stage = flight.course.map { .waiting(kind, $0) } ?? .queued(kind)
        flights[id] = flight
        request(kind, for: flight, &effects)
    }

    /// Requests a permit. A partition that is leaving starts nothing, because its queued jobs belong to the next owner.
    func request(_ kind: PermitKind, for flight: Flight, _ effects: inout [JobEffect]) {
        if isLeaving, flight.course == nil { return }
        if flight.course == nil, let isolated = isolatedRun(of: flight, kind) { return effects.append(.permit(isolated)) }
        effects.append(
            .permit(
                .request(kind, flight.id, flight.lane, since: flight.since, flight.asked, behind: flight.behind)))
    }

    /// - Parameter hold: the host's limit that held the flight back until now.
    package mutating func granted(
        _ kind: PermitKind, _ id: FlightID, throttledBy hold: HostHold?, _ now: Moment,
        _ effects: inout [JobEffect]
    ) {
        if let hold, let held = flights[id]?.pendingJobs.map({ $0.held(by: hold) }) {
            flights[id]?.pendingJobs = held
        }
        var course: Flight.Course
        switch flights[id]?.stage {
        case .queued(kind): course = Flight.Course(began: now.monotonic)
        case .waiting(kind, let own): course = own
        case .redirected(_, _, let own) where kind == .fetch:
            course = own
            course.began = now.monotonic
        default: return effects.append(.permit(.release(kind, id)))
        }
        let redirect = flights[id]?.redirect
        if expire(id, now, &effects), redirect == nil || flights[id]?.isWantedByAll != true {
            effects.append(.permit(.release(kind, id)))
            // The remaining jobs may want fewer variants.
            return advance(id, now, &effects)
        }
        guard var flight = flights[id] else { return }
        switch kind {
        case .fetch:
            flight.stage = .fetching(flight.asked, course)
            fetching.insert(id)
            // All hops of a fetch use the same validators.
            if redirect == nil {
                flight.refusal = flight.left == nil ? refusals.refusal(of: flight.source, at: flight.url) : nil
            }
            effects.append(.work(.fetch(id, fetchRequest(of: flight, redirect, now))))
        case .render:
            guard let task = renderTask(of: flight, now) else {
                // A job that joined needs variants that are not stored, so the plan has changed.
                effects.append(.permit(.release(.render, id)))
                return advance(id, now, &effects)
            }
            flight.stage = .rendering(task, course)
            effects.append(.work(.render(id, task)))
        }
        flights[id] = flight
    }

    /// Completes jobs that expired before all their variants were ready. Returns whether there was one. A flight that
    /// no job needs any more ends.
    private mutating func expire(_ id: FlightID, _ now: Moment, _ effects: inout [JobEffect]) -> Bool {
        guard let flight = flights[id] else { return false }
        let isLate = { (pending: PendingJob) in
            pending.isExpired(at: now.wall) && pending.job.variants.contains { flight.results[$0] == nil }
        }
        guard flight.pendingJobs.contains(where: isLate) else { return false }
        for pending in flight.pendingJobs where isLate(pending) {
            if flight.course != nil { outlive([pending]) }
            if pending.job.isChange {
                end(change: pending, .expired, flight.snapshot, at: now, &effects)
            } else {
                effects.complete(pending, .expired, at: now)
            }
        }
        flights[id]?.pendingJobs.removeAll(where: isLate)
        if flights[id]?.pendingJobs.isEmpty != false { end(id, now, &effects) }
        return true
    }

    /// Completes jobs that expire while their source is fetched, not only at the end of a slow fetch. A fetch that no
    /// job needs any more is cancelled.
    mutating func expireFetches(_ now: Moment, _ effects: inout [JobEffect]) {
        for id in fetching.sorted() {
            if flights[id]?.isAsking == true { _ = expire(id, now, &effects) }
            if flights[id]?.isAsking != true { fetching.remove(id) }
        }
    }

    package mutating func nearlyFetched(_ id: FlightID) {
        guard case .fetching(let host, var course) = flights[id]?.stage else { return }
        course.isNearlyFetched = true
        flights[id]?.stage = .fetching(host, course)
    }

    package mutating func fetched(
        _ id: FlightID, _ picture: FetchedPicture, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        guard var flight = flights[id], case .fetching(_, var course) = flight.stage else { return }
        let (body, facts) = (picture.source, picture.picture.facts)
        let head = body.head
        var policy = CachePolicy(head.fields, sent: head.sent, now: now.wall)
        policy.location = head.location
        let expires = freshUntil(&policy, head, flight, now)
        let row = SourceRow(
            source: flight.source, url: flight.url.fetched, version: body.version, size: facts.size,
            format: facts.format,
            bytes: body.bytes, digest: body.digest, hasAlpha: facts.hasAlpha, frames: facts.frames, original: nil,
            fetchedAt: now.wall, expires: expires, policy: policy, regions: facts.regions,
            isAlphaUnchecked: picture.isAlphaUnchecked)
        // Variants that counted as done stay done only if they are of these bytes. All others are rendered from them
        // again.
        flight.results = flight.results.filter { $0.value.row?.version == row.version }
        let known = flight.snapshot.source
        if let known, known.version != row.version {
            course.change = flight.change(from: known, to: row)
        } else if let left = flight.left, left.to == row.version {
            (course.change, course.hasPendingRefresh) = (left, true)
        }
        effects.append(
            .work(.checked(flight.origin, known.map { $0.version == row.version ? .same : .changed } ?? .new)))
        goOn(flight, course, Flight.Fetched(row: row, picture: picture), &effects)
    }

    /// Continues the flight with its render, because the origin delivered or confirmed the source.
    mutating func goOn(
        _ flight: Flight, _ course: Flight.Course, _ fetched: Flight.Fetched, _ effects: inout [JobEffect]
    ) {
        var (flight, course) = (flight, course)
        let bytes = fetched.picture?.source.bytes ?? 0
        effects.append(.permit(.hear(.responded(bytes: bytes), flight.id, code: "")))
        effects.append(.permit(.release(.fetch, flight.id)))
        refusals.forget(flight.source, at: flight.url, giving: fetched.row.version)
        flight.snapshot.source = fetched.row
        let asked = flight.pendingJobs.map(\.job.variants)
        flight.pendingJobs = flight.pendingJobs.map { $0.choosing(by: fetched.row, rules.qualities) }
        flight.chosen = zip(asked, flight.pendingJobs).compactMap { asked, pending in
            asked.contains(where: \.isAuto) ? (asked, Set(pending.job.variants)) : nil
        }
        // For jobs that joined while the source was fetched for others, its alpha was not examined.
        setLate(&flight) { $0.job.variants.contains(where: \.isAuto) }
        course.fetched = fetched
        flight.stage = .waiting(.render, course)
        flights[flight.id] = flight
        request(.render, for: flight, &effects)
    }

    /// Task for all variants that are missing from the fetched source, or for those that one donor can give. nil if the
    /// source must be fetched after all.
    private func renderTask(of flight: Flight, _ now: Moment) -> RenderTask? {
        if flight.mustAsk { return nil }
        var flight = flight
        var (batch, renewed): (RenderBatch?, [VariantRow]) = (nil, [])
        let fetched = flight.course?.fetched
        if let fetched {
            let plan = FetchedPlan(flight.next, snapshot: flight.snapshot, fetched: fetched.row)
            (batch, renewed) = (plan.batch, plan.renewed)
            // Variants derived from donors are as fresh as their donors are now.
            flight.snapshot.renew(renewed)
        }
        if fetched?.picture == nil { batch = plan(flight.missing, flight, now).reuses.first }
        guard batch != nil || fetched != nil else { return nil }
        return RenderTask(
            batch: batch, fetched: fetched.map { ($0.row, $0.picture) }, renewed: renewed,
            replaced: flight.replaced(by: batch), standing: flight.snapshot.variants,
            change: flight.change(completedBy: batch),
            pendingRefresh: flight.pendingRefresh(after: batch, at: now.wall, life: rules.ownLife), lane: flight.lane,
            traceparent: flight.traceparent, origin: flight.host,
            made: flight.made.flatMap { $0.source == batch?.renderSource ? $0.variants : nil } ?? [],
            isLate: flight.results.values.contains { $0.failure?.code == RenderFailure.Code.deadline.rawValue })
    }

    package mutating func rendered(_ id: FlightID, _ effects: inout [JobEffect]) {
        effects.append(.permit(.release(.render, id)))
        guard let flight = flights[id], case .rendering(let task, let course) = flight.stage else { return }
        flights[id]?.stage = .announcing(task, course)
        clear(flight.pendingJobs.lazy.map(\.place))
    }

    package mutating func announced(
        _ id: FlightID, _ original: String?, _ rows: [VariantRow], _ position: Int64, _ now: Moment,
        _ effects: inout [JobEffect]
    ) {
        guard var flight = flights[id], case .announcing(let task, var course) = flight.stage else { return }
        effects.append(.permit(.pass(id)))
        lastPass = (now.wall, now.wall)
        flight.made = nil
        if let fetched = task.fetched {
            flight.snapshot.source = fetched.row.kept(at: original, fetched.picture).checked(by: rows)
        }
        for row in rows {
            let old = task.replaced[row.spec]
            // Different bytes of the source gave the same variant, so its file and location stay.
            let isSame = old?.digest == row.digest && old?.location == row.location
            let kind: OutcomeKind = isSame ? .unchanged : task.isReuse ? .reused : .stored
            flight.results[row.spec] = VariantOutcome(spec: row.spec, kind: kind, row: row)
        }
        if let change = task.change {
            // The change that an earlier owner left may have another part.
            if flight.left == nil { noteReported(change) }
            course.change = nil
        }
        if task.pendingRefresh != nil { course.hasPendingRefresh = true }
        flight.snapshot.renew(rows + task.renewed)
        // Variants that the fetch confirmed are done. A new plan might find them expired again, without end.
        if let fetched = task.fetched?.row {
            flight.keep(FetchedPlan(flight.missing, snapshot: flight.snapshot, fetched: fetched).unchanged)
        }
        course.position = max(course.position, position)
        flight.stage = .announcing(task, course)
        flights[id] = flight
        advance(id, now, &effects)
    }

    package mutating func blobsGone(
        _ id: FlightID, _ locations: [String], _ now: Moment, _ effects: inout [JobEffect]
    ) {
        effects.append(.permit(.release(.render, id)))
        flights[id]?.snapshot.variants.removeAll { locations.contains($0.location) }
        if let original = flights[id]?.snapshot.source?.original, locations.contains(original) {
            flights[id]?.snapshot.source?.original = nil
        }
        advance(id, now, &effects)
    }

    /// Chooses the formats that were left open, and plans the flight with them.
    package mutating func looked(_ id: FlightID, _ row: SourceRow, _ now: Moment, _ effects: inout [JobEffect]) {
        effects.append(.permit(.release(.render, id)))
        guard var flight = flights[id] else { return }
        (flight.snapshot.source, flight.looked) = (row, row)
        flight.pendingJobs = flight.pendingJobs.map { $0.choosing(by: row, rules.qualities) }
        flights[id] = flight
        advance(id, now, &effects)
    }

    package mutating func refused(
        _ id: FlightID, _ specs: [VariantSpec], _ note: FailureNote, _ made: [RenderedVariant], _ now: Moment,
        _ effects: inout [JobEffect]
    ) {
        effects.append(.permit(.release(.render, id)))
        if case .rendering(let task, _)? = flights[id]?.stage, let batch = task.batch {
            flights[id]?.made = (batch.renderSource, made)
        }
        for spec in specs {
            flights[id]?.results[spec] = VariantOutcome(spec: spec, kind: .failed, row: nil, failure: note)
        }
        if let flight = flights[id], flight.isMoving(specs), note.verdict == .fail {
            noteDamage(of: flight, note, specs, now)
        }
        advance(id, now, &effects)
    }

    /// Remembers that the fetched bytes cannot be decoded, because the next attempt would fail, too.
    package mutating func noteDamage(_ id: FlightID, _ note: FailureNote, _ now: Moment) {
        guard note.isOfPixels, let flight = flights[id], case .rendering(let task, _) = flight.stage,
            let batch = task.batch
        else { return }
        noteDamage(of: flight, note, batch.orders.map(\.spec), now)
    }

    private mutating func noteDamage(
        of flight: Flight, _ note: FailureNote, _ specs: [VariantSpec], _ now: Moment
    ) {
        guard flight.hasBody, let version = flight.fetched?.version else { return }
        // Jobs that left formats open, and wanted exactly these variants, will request them by the open names.
        let asked = flight.chosen.filter { $0.specs == Set(specs) }.map(\.asked)
        for together in asked + [specs] {
            refusals.add(
                flight.source, at: flight.url, giving: version, note, together: together,
                isMoving: flight.isMoving(specs), at: now.monotonic)
        }
    }
}

extension Flight {
    /// Whether all specs are animated, so that no still shares their decode (`RenderPart`).
    fileprivate func isMoving(_ specs: [VariantSpec]) -> Bool {
        fetched.map { $0.frames > 1 } ?? false && specs.allSatisfy(\.isAnimated)
    }
}

extension FailureNote {
    /// Whether the fetched image is the cause, and not the variant.
    fileprivate var isOfPixels: Bool {
        switch RenderFailure.Code(rawValue: code) {
        case .malformed, .truncated, .tooMuchMemory, .unsupported, .aborted, .deadline: true
        default: false
        }
    }
}
