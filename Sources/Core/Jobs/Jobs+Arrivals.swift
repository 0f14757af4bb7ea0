internal import Canonical
package import Clocks
package import Failures
internal import Hosts
package import ImageModel
internal import Images
internal import Ledger
internal import Permits
internal import Planning
package import Positions
package import Records
internal import VariantSpec

/// Intake of jobs: each joins the flight of its source, gets its outcome at once, or gets a flight.
extension Jobs {
    package mutating func arrive(_ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect]) {
        if isCondemned(pending) { return condemn(pending, now, &effects) }
        resume(pending, now, &effects)
    }

    private mutating func join(
        _ pending: PendingJob, _ snapshot: SourceSnapshot, _ id: FlightID, _ lane: Lane,
        _ effects: inout [JobEffect]
    ) {
        guard var flight = flights[id] else { return }
        let since = min(flight.since, pending.firstSeen)
        if lane < flight.lane {
            flight.lane = lane
            effects.append(.permit(.move(id, flight.lane, since: since)))
        }
        flight.since = since
        let isForced = pending.job.freshness == .force
        // A change that the flight cannot report is examined again once the flight is over.
        let left = flight.fetched == nil ? pending.change(in: snapshot) : nil
        let isOfFlight = !pending.job.isChange || left.map { flight.left?.id ?? $0.id == $0.id } ?? false
        let chosen = pending.choosing(by: flight.fetched ?? flight.looked, rules.qualities)
        let isChosen = flight.fetched == nil || !chosen.job.variants.contains(where: \.isAuto)
        // A fetch that started before the job came may show a state from before it.
        if flight.isOpen, isOfFlight, isChosen, !isForced || flight.course == nil {
            if var left {
                left.add(flight.left?.stored ?? [])
                flight.left = left
            }
            flight.pendingJobs.append(chosen)
            // The job's look-up asked for the blobs that the job wants; the flight's own had asked for others only.
            let gone = pending.job.variants.filter { spec in
                flight.results[spec] == nil && !snapshot.variants.contains { $0.spec == spec }
            }
            flight.snapshot.variants.removeAll { gone.contains($0.spec) }
        } else {
            flight.late.append(pending)
        }
        flights[id] = flight
        isolate(flight, joinedBy: pending, &effects)
    }

    /// Plans a job: it gets its outcome at once, expires, joins the flight of its source, or gets a flight.
    package mutating func begin(
        _ pending: PendingJob, _ snapshot: SourceSnapshot, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        guard var pending = rule(pending, now, &effects) else { return }
        let job = pending.job
        let snapshot = usable(snapshot, job.url, at: now.wall)
        // The owner that wrote the record may still be working, with its rows on their way. So may another job that
        // renders the rest.
        if job.isChange, let id = flights.flight(of: job.source) {
            return join(pending, snapshot, id, pending.lane(at: now.wall, rules.retry), &effects)
        }
        let left = pending.change(in: snapshot)
        if job.isChange, left == nil || pending.isExpired(at: now.wall) {
            let places = snapshot.variants.indices.filter { job.variants.contains(snapshot.variants[$0].spec) }
            let variants = left == nil ? VariantOutcomes(unchanged: snapshot, places) : []
            return end(
                change: pending, left == nil ? .unchanged : .expired, snapshot, variants: variants, at: now, &effects)
        }
        pending = choosing(pending, by: snapshot, at: now.wall)
        let plan = Plan(pending.job.variants, snapshot: snapshot, now: now.wall, rules: rules.reuse)
        if plan.isUnchanged, left == nil, job.freshness != .force {
            let variants = VariantOutcomes(unchanged: snapshot, plan.unchangedPlaces)
            settle(job)
            effects.complete(pending, .unchanged, variants: variants, at: now)
            return
        }
        if completeWhileRevalidating(pending, snapshot, now, &effects) { return }
        // Checked only now: if a job was stored before its expiry, its replay must report that again, and not that it
        // expired.
        if pending.isExpired(at: now.wall) {
            effects.complete(pending, .expired, at: now)
            return
        }
        if job.freshness == .cacheOnly, !plan.toFetch.isEmpty {
            return completeFromStore(pending, plan, snapshot, now, &effects)
        }
        if isPaused(pending, now, &effects) { return }
        let lane = pending.lane(at: now.wall, rules.retry)
        if let id = flights.flight(of: job.source) { return join(pending, snapshot, id, lane, &effects) }
        let isForced = job.freshness == .force || left != nil
        let kind: PermitKind = plan.reuses.isEmpty || isForced ? .fetch : .render
        let origin = origin(of: pending)
        let share = pending.awaited ?? origin
        let kept = plan.reuses.isEmpty ? nil : snapshot.version
        if !isForced,
            let note = refusals.note(of: job.source, at: job.url, for: plan.ofSource, kept: kept, at: now.monotonic)
        {
            return effects.complete(pending, plan, failing: note, at: now)
        }
        if kind == .fetch, isCrowded(HostLane(share, lane), pending, now, &effects) { return }
        let id = nextFlight()
        var flight = Flight(
            id: id, source: pending.job.source, url: pending.job.url, host: OriginHost(of: pending.job.url.fetched),
            origin: origin, share: share, pendingJobs: [pending], lane: lane, since: pending.firstSeen,
            stage: .queued(kind), snapshot: snapshot)
        flight.left = left
        flights[id] = flight
        request(kind, for: flight, &effects)
    }

    /// The pending job with the formats chosen that it left open, if the known source is fresh.
    private func choosing(_ pending: PendingJob, by snapshot: SourceSnapshot, at now: WallTime) -> PendingJob {
        var known = snapshot.source.flatMap { $0.expires > now || rules.reuse.allowsStale ? $0 : nil }
        // A job that wants only stored variants causes no examination of pixels.
        if pending.job.freshness == .cacheOnly { known?.isAlphaUnchecked = false }
        return pending.choosing(by: known, rules.qualities)
    }

    /// Parks jobs that have held the committable offset back too long, and ends those that expired.
    package mutating func tick(_ positions: Positions, _ now: Moment, _ effects: inout [JobEffect]) {
        invariant(flights.isConsistent, "counts of flights or their index by source are wrong")
        positions.checkInvariants()
        pauses.end(at: now.wall)
        expireFetches(now, &effects)
        for topic in Topic.lanes {
            guard let oldest = positions.oldest(topic), oldest.isHeldBack else { continue }
            parkRunning(oldest.place, span: oldest.span, now, &effects)
        }
    }

    /// Parks the job at this position, so that its offset is finished. A flight that runs keeps the job: its end answers
    /// the row, and no attempt is counted. If a progress row may soon not hold the offsets behind the job any more, the
    /// jobs of the older half are parked, and queued ones leave their flights.
    private mutating func parkRunning(
        _ oldest: RecordPlace, span: Int, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        // While flights are named, a job in progress must keep its position.
        if isNaming { return }
        let isPressed = span >= TopicProgress.finishedLimit / 2
        let limit = oldest.offset + Int64(isPressed ? span / 2 : 1)
        for flight in flights.all where parksRunning(flight, isPressed: isPressed, now) {
            let isOld = { (pending: PendingJob) in
                // A row that the log refuses as too large would end a job that runs.
                pending.place.topic == oldest.topic && pending.place.incarnation == oldest.incarnation
                    && pending.place.offset < limit
                    && (flight.course == nil || (pending.record.value?.count ?? 0) < RecordLimits.sureBytes / 2)
            }
            let old = flight.pendingJobs.filter(isOld)
            if old.isEmpty { continue }
            let cause =
                flight.course.map { FailureNote(RetryCause.slow(now.monotonic - $0.began)) }
                ?? origins.crowded(flight.share)
            for pending in old {
                park(
                    pending.counting(crashes: crashes(of: pending)), for: flight.share, cause,
                    isRunning: flight.course != nil,
                    now, &effects)
            }
            flights[flight.id]?.pendingJobs.removeAll(where: isOld)
            if flight.course != nil {
                let aside = old.map { $0.parkedRunning(nextRunning()) }
                flights[flight.id]?.pendingJobs += aside
            } else if flights[flight.id]?.pendingJobs.isEmpty == true {
                end(flight.id, now, &effects)
            }
        }
    }

    /// Place of a row whose offset is not known. No record has it.
    private mutating func nextRunning() -> Int64 {
        runningCount += 1
        return -runningCount
    }

    private func parksRunning(_ flight: Flight, isPressed: Bool, _ now: Moment) -> Bool {
        switch flight.stage {
        case .queued: return isPressed && !runsAlone(flight)
        case .folding, .redirected: return false
        case .waiting(_, let course), .fetching(_, let course), .rendering(_, let course), .announcing(_, let course):
            // A job of a flood may run no longer than it takes to read a similar number of records behind it.
            let isBrief = isPressed && isCrowded(flight.hostLane)
            return now.monotonic - course.began > (isBrief ? min(.milliseconds(500), rules.holdLimit) : rules.holdLimit)
        }
    }
}

extension PendingJob {
    /// Chooses the format of `auto` variants once the source's animation and transparency are known. Until then no
    /// stored variant matches them, so the source is fetched.
    func choosing(by source: SourceRow?, _ defaults: DefaultQualities) -> PendingJob {
        guard let source, job.variants.contains(where: \.isAuto) else { return self }
        var chosen = job
        chosen.variants = []
        for spec in job.variants {
            let spec = spec.chosen(by: source, defaults)
            if !chosen.variants.contains(spec) { chosen.variants.append(spec) }
        }
        return PendingJob(
            job: chosen, record: record, attempts: attempts, firstSeen: firstSeen, notBefore: notBefore,
            heldSince: heldSince, crashes: crashes, failingSince: failingSince, throttledBy: throttledBy, awaited: awaited,
            movedTo: movedTo)
    }

    func outcome(
        _ kind: OutcomeKind, variants: VariantOutcomes = [], failure: FailureNote? = nil, at now: WallTime
    ) -> Outcome {
        var outcome = Outcome(
            job: job.id, source: job.source, url: job.url, lane: job.lane, kind: kind, variants: variants,
            failure: failure, attempts: attempts, at: now, traceparent: job.traceparent)
        (outcome.throttledBy, outcome.replays) = (throttledBy, record.replays)
        return outcome
    }
}

extension [JobEffect] {
    package mutating func complete(
        _ pending: PendingJob, _ kind: OutcomeKind, variants: VariantOutcomes = [], failure: FailureNote? = nil,
        at now: Moment
    ) {
        let outcome = pending.outcome(kind, variants: variants, failure: failure, at: now.wall)
        let isPaid = kind.isFresh && pending.job.isStaleRefresh
        append(.work(.complete(pending.record, isPaid ? .paid(outcome) : .outcome(outcome))))
    }

    /// Completes a job with the fresh stored variants, and with the reason why the others are missing.
    mutating func complete(_ pending: PendingJob, _ plan: Plan, failing note: FailureNote, at now: Moment) {
        let variants = pending.job.variants.map { spec in
            let row = plan.unchanged.first { $0.spec == spec }
            return VariantOutcome(
                spec: spec, kind: row == nil ? .failed : .unchanged, row: row, failure: row == nil ? note : nil)
        }
        complete(pending, .failed, variants: VariantOutcomes(variants), failure: note, at: now)
    }

    mutating func deadLetter(
        _ pending: PendingJob, variants: VariantOutcomes = [], _ failure: FailureNote, attempts: Int, at now: Moment
    ) {
        let deadLetter = DeadLetter(
            of: pending.record, id: pending.job.id, cause: failure, attempts: attempts, url: pending.job.url,
            at: now.wall)
        let outcome = pending.outcome(.dead, variants: variants, failure: failure, at: now.wall)
        append(.work(.complete(pending.record, .dead(deadLetter, outcome))))
    }
}

extension Plan {
    var isUnchanged: Bool { reuses.isEmpty && toFetch.isEmpty }

    /// Variants that must be rendered from the source's own bytes, fetched or kept.
    var ofSource: [VariantSpec] { toFetch + reuses.filter { !$0.renderSource.isDonor }.flatMap(\.orders).map(\.spec) }
}
