internal import ImageModel
internal import Planning

/// Taking jobs up: delayed, joined to the flight of their source, answered at once, or given a flight.
extension PartitionState {
    mutating func arrive(_ waiter: Waiter, _ now: Int64, _ effects: inout [PartitionEffect]) {
        guard receive(waiter.record) else { return }
        guard waiter.notBefore > now else { return takeUp(waiter, now, &effects) }
        // A full heap keeps the soonest: what is far from due goes to the topic's tail again.
        if delayed.count >= rules.retryHeap, let first = delayed.first, waiter.notBefore - first.due > 60_000 {
            // What is read behind it is soon the very same again: the topic has its turn now and then, not at once.
            retriesRest = now + rules.retryRest
            let note = FailureNote(RetryCause.deferred)
            effects.append(
                .settle(waiter.record, waiter.retry(attempts: waiter.attempts, notBefore: waiter.notBefore, note)))
        } else {
            delay(waiter)
        }
    }

    /// A job that may run now: expired, or looked up in the index.
    mutating func takeUp(_ waiter: Waiter, _ now: Int64, _ effects: inout [PartitionEffect]) {
        if let expires = waiter.job.expires, expires <= now {
            effects.append(.settle(waiter.record, .outcome(waiter.outcome(.expired, at: now))))
        } else {
            effects.append(.lookUp(waiter))
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

    /// The plan of a job: answered at once, joined to the flight of its source, or given one.
    mutating func begin(_ waiter: Waiter, _ snapshot: SourceSnapshot, _ now: Int64, _ effects: inout [PartitionEffect])
    {
        let plan = Plan(waiter.job.variants, snapshot: snapshot, now: now, rules: rules.reuse)
        if plan.isUnchanged {
            effects.append(.settle(waiter.record, .outcome(waiter.outcome(unchanged: plan.unchanged, at: now))))
            return
        }
        if let id = bySource[waiter.job.source] { return join(waiter, snapshot, id, &effects) }
        let id = nextFlight()
        let kind: PermitKind = plan.reuses.isEmpty ? .fetch : .render
        let since = waiter.record.timestamp
        flights[id] = Flight(
            id: id, source: waiter.job.source, url: waiter.job.url, waiters: [waiter], lane: waiter.job.lane,
            since: since, stage: .waiting(kind), snapshot: snapshot)
        bySource[waiter.job.source] = id
        effects.append(.request(kind, id, waiter.job.lane, since: since))
    }

    /// Due retries run; what has held the watermark too long is moved aside.
    mutating func tick(_ now: Int64, _ effects: inout [PartitionEffect]) {
        while let first = delayed.first, first.due <= now, let due = delayed.pop() { takeUp(due.waiter, now, &effects) }
        for topic in [Topic.jobsFast, .jobsSlow] {
            guard let mark = watermarks[topic], mark.isHeldBack, let offset = mark.oldestUnfinished else { continue }
            moveAside(RecordPlace(topic, offset), now, &effects)
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
    func retry(attempts: Int, notBefore: Int64, _ note: FailureNote) -> Settlement {
        .retry(job, attempts: attempts, notBefore: notBefore, firstSeen: firstSeen, note)
    }

    func outcome(
        _ kind: OutcomeKind, variants: [VariantOutcome] = [], failure: FailureNote? = nil, at now: Int64
    ) -> Outcome {
        Outcome(
            job: job.id, source: job.source, url: job.url, lane: job.lane, kind: kind, variants: variants,
            failure: failure, attempts: attempts, at: now, traceparent: job.traceparent)
    }

    func outcome(unchanged rows: [VariantRow], at now: Int64) -> Outcome {
        outcome(.unchanged, variants: rows.map { VariantOutcome(spec: $0.spec, kind: .unchanged, row: $0) }, at: now)
    }
}

extension Plan {
    var isUnchanged: Bool { reuses.isEmpty && toFetch.isEmpty }
}
