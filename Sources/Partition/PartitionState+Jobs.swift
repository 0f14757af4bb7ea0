internal import Canonical
internal import Failures
internal import ImageModel
internal import Planning
internal import Records
internal import VariantSpec

/// Taking jobs up: delayed, joined to the flight of their source, answered at once, or given a flight.
extension PartitionState {
    mutating func arrive(_ waiter: Waiter, _ now: Int64, _ effects: inout [PartitionEffect]) {
        guard receive(waiter.record, &effects) else { return }
        guard waiter.due > now else { return effects.append(.lookUp(waiter)) }
        // A full heap keeps the soonest: what is far from due goes to the topic's tail again.
        if delayed.count >= rules.retryHeap, let first = delayed.first, waiter.due - first.due > 60_000 {
            // What is read behind it is soon the very same again: the topic has its turn now and then, not at once.
            retriesRest = now + rules.retryRest
            let note = FailureNote(RetryCause.deferred)
            effects.append(
                .settle(waiter.record, waiter.retry(attempts: waiter.attempts, notBefore: waiter.notBefore, note)))
        } else {
            delay(waiter)
        }
    }

    private mutating func join(
        _ waiter: Waiter, _ snapshot: SourceSnapshot, _ id: FlightID, _ effects: inout [PartitionEffect]
    ) {
        guard var flight = flights[id] else { return }
        let since = min(flight.since, waiter.record.timestamp)
        if waiter.job.lane == .fast, flight.lane == .slow {
            flight.lane = .fast
            effects.append(.move(id, .fast, since: since))
        }
        flight.since = since
        if flight.isOpen {
            let waiter = waiter.choosing(by: flight.fetched, rules.qualities)
            flight.waiters.append(waiter)
            // Its look-up asked for the blobs that it wants; the flight's own had asked for others only.
            let gone = waiter.job.variants.filter { spec in
                flight.results[spec] == nil && !snapshot.variants.contains { $0.spec == spec }
            }
            flight.snapshot.variants.removeAll { gone.contains($0.spec) }
        } else {
            flight.late.append(waiter)
        }
        flights[id] = flight
    }

    /// The plan of a job: answered at once, expired, joined to the flight of its source, or given one.
    mutating func begin(_ waiter: Waiter, _ snapshot: SourceSnapshot, _ now: Int64, _ effects: inout [PartitionEffect])
    {
        if let variants = recentAnswers.unchanged(waiter.job, snapshot, at: now) {
            effects.append(.settle(waiter.record, .outcome(waiter.outcome(.unchanged, variants: variants, at: now))))
            return
        }
        let asked = waiter
        let waiter = choosing(asked, by: snapshot, at: now)
        let plan = Plan(waiter.job.variants, snapshot: snapshot, now: now, rules: rules.reuse)
        if plan.isUnchanged {
            // What `auto` became depends on more than rows.
            let variants =
                waiter === asked
                ? recentAnswers.note(unchanged: plan.unchanged, of: waiter.job, snapshot, at: now, rules.reuse)
                : VariantOutcomes(unchanged: plan.unchanged)
            effects.append(.settle(waiter.record, .outcome(waiter.outcome(.unchanged, variants: variants, at: now))))
            return
        }
        // Only now: the replay of a job that was stored before its time says so again, and not that it expired.
        if waiter.isExpired(at: now) {
            effects.append(.settle(waiter.record, .outcome(waiter.outcome(.expired, at: now))))
            return
        }
        if let id = bySource[waiter.job.source] { return join(waiter, snapshot, id, &effects) }
        let id = nextFlight()
        let kind: PermitKind = plan.reuses.isEmpty ? .fetch : .render
        let (since, host) = (waiter.record.timestamp, OriginHost(of: waiter.job.url))
        flights[id] = Flight(
            id: id, source: waiter.job.source, url: waiter.job.url, host: host, waiters: [waiter],
            lane: waiter.job.lane,
            since: since, stage: .waiting(kind), snapshot: snapshot)
        bySource[waiter.job.source] = id
        effects.append(.request(kind, id, waiter.job.lane, since: since, host))
    }

    /// The waiter with the formats chosen that its job left open, if what is known of the source is fresh.
    private func choosing(_ waiter: Waiter, by snapshot: SourceSnapshot, at now: Int64) -> Waiter {
        let known = snapshot.source.flatMap { $0.expires > now || rules.reuse.allowsStale ? $0 : nil }
        return waiter.choosing(by: known, rules.qualities)
    }

    /// Due retries run; what has held the committable offset too long is moved aside.
    mutating func tick(_ now: Int64, _ effects: inout [PartitionEffect]) {
        recentAnswers.tick(now)
        while let first = delayed.first, first.due <= now, let due = delayed.pop() {
            effects.append(.lookUp(due.waiter))
        }
        for topic in [Topic.jobsFast, .jobsSlow] {
            guard let mark = committable[topic], mark.isHeldBack, let offset = mark.oldestUnfinished else { continue }
            moveAside(RecordPlace(topic, offset, incarnation: mark.incarnation), now, &effects)
        }
    }

    private mutating func moveAside(_ place: RecordPlace, _ now: Int64, _ effects: inout [PartitionEffect]) {
        for (id, flight) in flights {
            guard let started = flight.started, now - started > rules.holdLimit,
                let index = flight.waiters.firstIndex(where: { $0.place == place })
            else { continue }
            if case .folding = flight.stage { continue }
            let waiter = flight.waiters[index]
            flights[id]?.waiters.remove(at: index)
            let note = FailureNote(RetryCause.slow(milliseconds: rules.holdLimit))
            effects.append(
                .settle(waiter.record, waiter.retry(attempts: waiter.attempts, notBefore: now + rules.retry.base, note))
            )
            return
        }
    }
}

extension Waiter {
    /// `auto` becomes a format once it is known of the source whether it moves and whether it is transparent; until then
    /// nothing stored is like it, so that the source is fetched.
    func choosing(by source: SourceRow?, _ defaults: DefaultQualities) -> Waiter {
        guard let source, job.variants.contains(where: \.isAuto) else { return self }
        var chosen = job
        chosen.variants = []
        for spec in job.variants {
            let spec = spec.chosen(frames: source.frames, hasAlpha: source.hasAlpha, defaults: defaults)
            if !chosen.variants.contains(spec) { chosen.variants.append(spec) }
        }
        return Waiter(job: chosen, record: record, attempts: attempts, firstSeen: firstSeen, notBefore: notBefore)
    }

    func retry(attempts: Int, notBefore: Int64, _ note: FailureNote) -> Settlement {
        .retry(job, attempts: attempts, notBefore: notBefore, firstSeen: firstSeen, note)
    }

    func outcome(
        _ kind: OutcomeKind, variants: VariantOutcomes = [], failure: FailureNote? = nil, at now: Int64
    ) -> Outcome {
        Outcome(
            job: job.id, source: job.source, url: job.url, lane: job.lane, kind: kind, variants: variants,
            failure: failure, attempts: attempts, at: now, traceparent: job.traceparent)
    }
}

extension Plan {
    var isUnchanged: Bool { reuses.isEmpty && toFetch.isEmpty }
}
