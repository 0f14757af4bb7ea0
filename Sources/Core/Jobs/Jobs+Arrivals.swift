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

/// Taking jobs up: joined to the flight of their source, answered at once, or given a flight.
extension Jobs {
    package mutating func arrive(_ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect]) {
        suspects.note(pending.place, deaths: pending.deaths)
        if suspects.isCondemned(pending.place) { return condemn(pending, now, &effects) }
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
        // A change that the flight cannot tell of is looked at again once that is over.
        let left = flight.fetched == nil ? pending.change(in: snapshot) : nil
        let isOfFlight = !pending.job.isChange || left.map { flight.left?.id ?? $0.id == $0.id } ?? false
        let chosen = pending.choosing(by: flight.fetched ?? flight.looked, rules.qualities)
        let isChosen = flight.fetched == nil || !chosen.job.variants.contains(where: \.isAuto)
        // What was asked before the job came may tell of a time before it.
        if flight.isOpen, isOfFlight, isChosen, !isForced || flight.course == nil {
            if var left {
                left.add(flight.left?.stored ?? [])
                flight.left = left
            }
            flight.pendingJobs.append(chosen)
            // Its look-up asked for the blobs that it wants; the flight's own had asked for others only.
            let gone = pending.job.variants.filter { spec in
                flight.results[spec] == nil && !snapshot.variants.contains { $0.spec == spec }
            }
            flight.snapshot.variants.removeAll { gone.contains($0.spec) }
        } else {
            flight.late.append(pending)
        }
        flights[id] = flight
        if suspects.runsAlone(pending.place) { isolate(flight, &effects) }
    }

    /// The plan of a job: answered at once, expired, joined to the flight of its source, or given one.
    package mutating func begin(
        _ pending: PendingJob, _ snapshot: SourceSnapshot, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        let job = pending.job
        let snapshot = usable(snapshot, job.url, at: now.wall)
        // The owner that wrote it may be at work, and its rows on their way; so may another job that makes the rest.
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
        let pending = choosing(pending, by: snapshot, at: now.wall)
        let plan = Plan(pending.job.variants, snapshot: snapshot, now: now.wall, rules: rules.reuse)
        if plan.isUnchanged, left == nil, job.freshness != .force {
            let variants = VariantOutcomes(unchanged: snapshot, plan.unchangedPlaces)
            settle(job)
            effects.answer(pending, .unchanged, variants: variants, at: now)
            return
        }
        if answerWhileRevalidating(pending, snapshot, now, &effects) { return }
        // Only now: the replay of a job that was stored before its time says so again, and not that it expired.
        if pending.isExpired(at: now.wall) {
            effects.answer(pending, .expired, at: now)
            return
        }
        if job.freshness == .cacheOnly, !plan.toFetch.isEmpty {
            return answerFromStore(pending, plan, snapshot, now, &effects)
        }
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
            return effects.answer(pending, plan, failing: note, at: now)
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

    /// The pending job with the formats chosen that its job left open, if what is known of the source is fresh.
    private func choosing(_ pending: PendingJob, by snapshot: SourceSnapshot, at now: WallTime) -> PendingJob {
        var known = snapshot.source.flatMap { $0.expires > now || rules.reuse.allowsStale ? $0 : nil }
        // Nobody looks at pixels for a job that wants only what is stored.
        if pending.job.freshness == .cacheOnly { known?.isAlphaUnchecked = false }
        return pending.choosing(by: known, rules.qualities)
    }

    /// Jobs whose wait is over run; what has held the committable offset too long is moved aside.
    package mutating func tick(_ positions: Positions, _ now: Moment, _ effects: inout [JobEffect]) {
        invariant(flights.isConsistent, "counts of flights or their index by source are wrong")
        hostJobs.checkInvariants()
        positions.checkInvariants()
        endWaits(positions, now, &effects)
        expireFetches(now, &effects)
        for topic in Topic.lanes {
            guard let oldest = positions.oldest(topic), oldest.isHeldBack else { continue }
            let isPressed = oldest.span >= TopicProgress.finishedLimit / 2
            moveAside(oldest.place, isPressed: isPressed, now, &effects)
            guard isPressed else { continue }
            passOnOldest(of: topic, below: oldest.place.offset + Int64(oldest.span / 2), now, &effects)
        }
    }

    /// How its try ends is told to nobody then, so it counts; the last one is waited for. What it makes is stored all the
    /// same, and found by the next try.
    private mutating func moveAside(
        _ place: RecordPlace, isPressed: Bool, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        // What is under way is named by its place.
        if suspects.isNaming { return }
        for flight in flights.all {
            // One of a flood is waited for no longer than its like are read behind it.
            let isBrief = isPressed && isCrowded(flight.hostLane)
            let limit = isBrief ? min(.milliseconds(500), rules.holdLimit) : rules.holdLimit
            guard let course = flight.course, now.monotonic - course.began > limit,
                let index = flight.pendingJobs.firstIndex(where: { $0.place == place })
            else { continue }
            switch flight.stage {
            case .folding, .redirected: continue
            default: break
            }
            let pending = flight.pendingJobs[index]
            let attempts = pending.attempts + 1
            if attempts >= rules.retry.most { return }
            flights[flight.id]?.pendingJobs.remove(at: index)
            flights[flight.id]?.aside.append(pending)
            let note = FailureNote(RetryCause.slow(now.monotonic - course.began))
            let later = pending.putOff(
                until: now.wall + rules.retry.base, attempts: attempts, heldSince: pending.heldSince)
            effects.append(.work(.putOff(later, note)))
            let tier = DelayTier(within: .zero, pending.job.lane)
            effects.append(.work(.answer(pending.record, .retry(later, tier, note))))
            return
        }
    }
}

extension PendingJob {
    /// `auto` becomes a format once it is known of the source whether it moves and whether it is transparent; until then
    /// nothing stored is like it, so that the source is fetched. A header alone does not tell of transparency.
    func choosing(by source: SourceRow?, _ defaults: DefaultQualities) -> PendingJob {
        guard let source, job.variants.contains(where: \.isAuto) else { return self }
        var chosen = job
        chosen.variants = []
        for spec in job.variants {
            let isOpen = source.isAlphaUnchecked && spec.isChosenByAlpha
            let spec =
                isOpen ? spec : spec.chosen(frames: source.frames, hasAlpha: source.hasAlpha, defaults: defaults)
            if !chosen.variants.contains(spec) { chosen.variants.append(spec) }
        }
        return PendingJob(
            job: chosen, record: record, attempts: attempts, firstSeen: firstSeen, notBefore: notBefore,
            heldSince: heldSince, deaths: deaths, failingSince: failingSince, heldBy: heldBy, awaited: awaited)
    }

    func outcome(
        _ kind: OutcomeKind, variants: VariantOutcomes = [], failure: FailureNote? = nil, at now: WallTime
    ) -> Outcome {
        var outcome = Outcome(
            job: job.id, source: job.source, url: job.url, lane: job.lane, kind: kind, variants: variants,
            failure: failure, attempts: attempts, at: now, traceparent: job.traceparent)
        outcome.heldBy = heldBy
        return outcome
    }
}

extension [JobEffect] {
    package mutating func answer(
        _ pending: PendingJob, _ kind: OutcomeKind, variants: VariantOutcomes = [], failure: FailureNote? = nil,
        at now: Moment
    ) {
        let outcome = pending.outcome(kind, variants: variants, failure: failure, at: now.wall)
        let isPaid = kind.isFresh && pending.job.isOwed
        append(.work(.answer(pending.record, isPaid ? .paid(outcome) : .outcome(outcome))))
    }

    /// What is stored and fresh is told, and why there is nothing else.
    mutating func answer(_ pending: PendingJob, _ plan: Plan, failing note: FailureNote, at now: Moment) {
        let variants = pending.job.variants.map { spec in
            let row = plan.unchanged.first { $0.spec == spec }
            return VariantOutcome(
                spec: spec, kind: row == nil ? .failed : .unchanged, row: row, failure: row == nil ? note : nil)
        }
        answer(pending, .failed, variants: VariantOutcomes(variants), failure: note, at: now)
    }

    mutating func setAside(
        _ pending: PendingJob, variants: VariantOutcomes = [], _ failure: FailureNote, attempts: Int, at now: Moment
    ) {
        let letter = DeadLetter(
            of: pending.record, id: pending.job.id, cause: failure, attempts: attempts, url: pending.job.url,
            at: now.wall)
        let outcome = pending.outcome(.dead, variants: variants, failure: failure, at: now.wall)
        append(.work(.answer(pending.record, .dead(letter, outcome))))
    }
}

extension Plan {
    var isUnchanged: Bool { reuses.isEmpty && toFetch.isEmpty }

    /// The variants to be made of the source's own bytes, fetched or kept.
    var ofSource: [VariantSpec] { toFetch + reuses.filter { !$0.renderSource.isDonor }.flatMap(\.orders).map(\.spec) }
}
