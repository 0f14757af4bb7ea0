internal import Canonical
package import Clocks
package import Failures
internal import HTTPCache
internal import Hosts
package import ImageModel
internal import Images
package import Ledger
package import Permits
internal import Planning
package import Ports
package import Records
package import VariantSpec

/// One job's way through a flight: plan → fetch → render → announce → fold → answer, in this order.
extension Jobs {
    /// Whatever is planned next for a flight: another permit, or its end.
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

    /// What its origin has just confirmed may be used, however short a time that says.
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
            // What was made before that is answered once it is folded.
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

    /// Of a partition that is leaving nothing begins: what is queued there is another owner's to do.
    func request(_ kind: PermitKind, for flight: Flight, _ effects: inout [JobEffect]) {
        if isLeaving, flight.course == nil { return }
        if flight.course == nil, runsAlone(flight) {
            let request = Solitude.Request(kind, flight.id, flight.lane, since: flight.since, flight.asked)
            let patience = suspects.patience(for: flight.pendingJobs.lazy.map(\.place))
            return effects.append(.permit(.isolate(request, patience: patience)))
        }
        effects.append(
            .permit(
                .request(kind, flight.id, flight.lane, since: flight.since, flight.asked, behind: flight.behind)))
    }

    /// - Parameter hold: what of its host held the flight back until now.
    package mutating func granted(
        _ kind: PermitKind, _ id: FlightID, heldBy hold: HostHold?, _ now: Moment,
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
            // What is left may want less.
            return advance(id, now, &effects)
        }
        guard var flight = flights[id] else { return }
        switch kind {
        case .fetch:
            flight.stage = .fetching(flight.asked, course)
            fetching.insert(id)
            // All hops of a fetch ask the same.
            if redirect == nil {
                flight.refusal = flight.left == nil ? refusals.refusal(of: flight.source, at: flight.url) : nil
            }
            effects.append(.work(.fetch(id, fetchRequest(of: flight, redirect, now))))
        case .render:
            guard let task = renderTask(of: flight, now) else {
                // A job that joined needs more than what is stored: the plan is another one now.
                effects.append(.permit(.release(.render, id)))
                return advance(id, now, &effects)
            }
            flight.stage = .rendering(task, course)
            effects.append(.work(.render(id, task)))
        }
        flights[id] = flight
    }

    /// Jobs whose time has passed before all that they want is there are answered; true if there was one. A flight that
    /// nobody waits for then is over.
    private mutating func expire(_ id: FlightID, _ now: Moment, _ effects: inout [JobEffect]) -> Bool {
        guard let flight = flights[id] else { return false }
        let isLate = { (pending: PendingJob) in
            pending.isExpired(at: now.wall) && pending.job.variants.contains { flight.results[$0] == nil }
        }
        guard flight.pendingJobs.contains(where: isLate) else { return false }
        for pending in flight.pendingJobs where isLate(pending) {
            if suspects.isNaming, flight.course != nil { suspects.outlive(pending.place) }
            if pending.job.isChange {
                end(change: pending, .expired, flight.snapshot, at: now, &effects)
            } else {
                effects.answer(pending, .expired, at: now)
            }
        }
        flights[id]?.pendingJobs.removeAll(where: isLate)
        let isAwaited = flights[id]?.pendingJobs.isEmpty == false || flight.isAwaitedAside(at: now.wall)
        if !isAwaited { end(id, now, &effects) }
        return true
    }

    /// Jobs whose time passes while their source is fetched are answered then, and not at the end of a slow fetch. What
    /// nobody waits for any more is not fetched.
    mutating func expireFetches(_ now: Moment, _ effects: inout [JobEffect]) {
        for id in fetching.sorted() {
            if flights[id]?.isAsking == true { _ = expire(id, now, &effects) }
            if flights[id]?.isAsking != true { fetching.remove(id) }
        }
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
        // What was counted as done before is done only if it is of these bytes; all else is made anew from them.
        flight.results = flight.results.filter { $0.value.row?.version == row.version }
        let known = flight.snapshot.source
        if let known, known.version != row.version {
            course.change = flight.change(from: known, to: row)
        } else if let left = flight.left, left.to == row.version {
            (course.change, course.isOwed) = (left, true)
        }
        effects.append(
            .work(.checked(flight.origin, known.map { $0.version == row.version ? .same : .changed } ?? .new)))
        goOn(flight, course, Flight.Fetched(row: row, picture: picture), &effects)
    }

    /// The origin gave or confirmed the source: the flight goes on to its render.
    mutating func goOn(
        _ flight: Flight, _ course: Flight.Course, _ fetched: Flight.Fetched, _ effects: inout [JobEffect]
    ) {
        var (flight, course) = (flight, course)
        let bytes = fetched.picture?.source.bytes ?? 0
        effects.append(.permit(.hear(.answered(bytes: bytes), flight.id, code: "")))
        effects.append(.permit(.release(.fetch, flight.id)))
        refusals.forget(flight.source, at: flight.url, giving: fetched.row.version)
        flight.snapshot.source = fetched.row
        let asked = flight.pendingJobs.map(\.job.variants)
        flight.pendingJobs = flight.pendingJobs.map { $0.choosing(by: fetched.row, rules.qualities) }
        flight.chosen = zip(asked, flight.pendingJobs).compactMap { asked, pending in
            asked.contains(where: \.isAuto) ? (asked, Set(pending.job.variants)) : nil
        }
        // Jobs that joined while the source was fetched for others: nobody looked at its alpha.
        setLate(&flight) { $0.job.variants.contains(where: \.isAuto) }
        course.fetched = fetched
        flight.stage = .waiting(.render, course)
        flights[flight.id] = flight
        request(.render, for: flight, &effects)
    }

    /// Everything missing from the fetched source, or what one donor can give; nil if it must be fetched after all.
    private func renderTask(of flight: Flight, _ now: Moment) -> RenderTask? {
        if flight.mustAsk { return nil }
        var flight = flight
        var (batch, renewed): (RenderBatch?, [VariantRow]) = (nil, [])
        let fetched = flight.course?.fetched
        if let fetched {
            let plan = FetchedPlan(flight.next, snapshot: flight.snapshot, fetched: fetched.row)
            (batch, renewed) = (plan.batch, plan.renewed)
            // What is made of donors is fresh as long as they are now.
            flight.snapshot.renew(renewed)
        }
        if fetched?.picture == nil { batch = plan(flight.missing, flight, now).reuses.first }
        guard batch != nil || fetched != nil else { return nil }
        return RenderTask(
            batch: batch, fetched: fetched.map { ($0.row, $0.picture) }, renewed: renewed,
            replaced: flight.replaced(by: batch), standing: flight.snapshot.variants,
            change: flight.change(completedBy: batch),
            debt: flight.debt(after: batch, at: now.wall, life: rules.ownLife), lane: flight.lane,
            traceparent: flight.traceparent, origin: flight.host,
            made: flight.made.flatMap { $0.source == batch?.renderSource ? $0.variants : nil } ?? [],
            isLate: flight.results.values.contains { $0.failure?.code == RenderFailure.Code.deadline.rawValue })
    }

    package mutating func rendered(_ id: FlightID, _ effects: inout [JobEffect]) {
        effects.append(.permit(.release(.render, id)))
        guard let flight = flights[id], case .rendering(let task, let course) = flight.stage else { return }
        flights[id]?.stage = .announcing(task, course)
        for pending in flight.pendingJobs { suspects.clear(pending.place) }
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
            // Other bytes of the source gave the same of the variant: it stands where it stood.
            let isSame = old?.digest == row.digest && old?.location == row.location
            let kind: OutcomeKind = isSame ? .unchanged : task.isReuse ? .reused : .stored
            flight.results[row.spec] = VariantOutcome(spec: row.spec, kind: kind, row: row)
        }
        if let change = task.change {
            // Of what was left there may be another part.
            if flight.left == nil { noteTold(change) }
            course.change = nil
        }
        if task.debt != nil { course.isOwed = true }
        flight.snapshot.renew(rows + task.renewed)
        // What the fetch proved good is answered by it: planned anew it might have expired meanwhile, and for ever.
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

    /// The formats that were left open are chosen, and the flight is planned with them.
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

    /// The pixels that were fetched cannot be decoded: that is so the next time, too.
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
        // Who left formats open, and wanted no less and no more than that, asks by those names.
        let asked = flight.chosen.filter { $0.specs == Set(specs) }.map(\.asked)
        for together in asked + [specs] {
            refusals.add(
                flight.source, at: flight.url, giving: version, note, together: together,
                isMoving: flight.isMoving(specs), at: now.monotonic)
        }
    }
}

extension Flight {
    /// Whether the specs all move, so that no still shares their decode (`RenderPart`).
    fileprivate func isMoving(_ specs: [VariantSpec]) -> Bool {
        fetched.map { $0.frames > 1 } ?? false && specs.allSatisfy(\.isAnimated)
    }
}

extension FailureNote {
    /// Whether the fetched picture is to blame, and not the variant.
    fileprivate var isOfPixels: Bool {
        switch RenderFailure.Code(rawValue: code) {
        case .malformed, .truncated, .tooMuchMemory, .unsupported, .aborted, .deadline: true
        default: false
        }
    }
}
