internal import Failures
internal import ImageModel
internal import Planning
internal import Records
internal import VariantSpec

/// One job's way through a flight: plan → fetch → render → announce → fold → answer, in this order.
extension PartitionState {
    /// Whatever is planned next for a flight: another permit, or its end.
    private mutating func advance(_ id: FlightID, _ now: Int64, _ effects: inout [PartitionEffect]) {
        guard var flight = flights[id] else { return }
        let missing = flight.missing
        guard !missing.isEmpty else { return land(id, now, &effects) }
        let plan = Plan(missing, snapshot: flight.snapshot, now: now, rules: rules.reuse)
        for row in plan.unchanged {
            flight.results[row.spec] = VariantOutcome(spec: row.spec, kind: .unchanged, row: row)
        }
        if plan.isUnchanged {
            flights[id] = flight
            return land(id, now, &effects)
        }
        let kind: PermitKind = flight.fetched == nil && plan.reuses.isEmpty ? .fetch : .render
        flight.stage = .waiting(kind)
        flights[id] = flight
        effects.append(.request(kind, id, flight.lane, since: flight.since, flight.host))
    }

    mutating func granted(_ kind: PermitKind, _ id: FlightID, _ now: Int64, _ effects: inout [PartitionEffect]) {
        guard flights[id]?.stage == .waiting(kind) else {
            effects.append(.release(kind, id))
            return
        }
        if expire(id, now, &effects) {
            effects.append(.release(kind, id))
            // What is left may want less.
            return advance(id, now, &effects)
        }
        guard var flight = flights[id] else { return }
        flight.started = flight.started ?? now
        switch kind {
        case .fetch:
            flight.stage = .fetching
            flights[id] = flight
            effects.append(.fetch(id, url: flight.url, flight.lane))
        case .render:
            guard let task = renderTask(of: flight, now) else {
                // A job that joined needs more than what is stored: the plan is another one now.
                flights[id] = flight
                effects.append(.release(.render, id))
                return advance(id, now, &effects)
            }
            flight.stage = .rendering
            flights[id] = flight
            effects.append(.render(id, task))
        }
    }

    /// Jobs whose time has passed before all that they want is there are answered; true if there was one. A flight that
    /// nobody waits for then is over.
    private mutating func expire(_ id: FlightID, _ now: Int64, _ effects: inout [PartitionEffect]) -> Bool {
        guard let flight = flights[id] else { return false }
        let isLate = { (pending: PendingJob) in
            pending.isExpired(at: now) && pending.job.variants.contains { flight.results[$0] == nil }
        }
        guard flight.pendingJobs.contains(where: isLate) else { return false }
        for pending in flight.pendingJobs where isLate(pending) {
            effects.append(.settle(pending.record, .outcome(pending.outcome(.expired, at: now))))
        }
        flights[id]?.pendingJobs.removeAll(where: isLate)
        if flights[id]?.pendingJobs.isEmpty == true { end(id, nil, now, &effects) }
        return true
    }

    mutating func fetched(_ id: FlightID, _ facts: FetchedFacts, _ now: Int64, _ effects: inout [PartitionEffect]) {
        guard var flight = flights[id] else { return }
        effects.append(.release(.fetch, id))
        let source = SourceRow(
            source: flight.source, url: flight.url, version: facts.version, size: facts.size, format: facts.format,
            bytes: facts.bytes, digest: facts.digest, hasAlpha: facts.hasAlpha, frames: facts.frames, original: nil,
            fetchedAt: now,
            expires: now + rules.maxAge)
        // What was counted as done before is done only if it is of these bytes; all else is made anew from them.
        flight.results = flight.results.filter { $0.value.row?.version == source.version }
        flight.snapshot.source = source
        flight.fetched = source
        flight.pendingJobs = flight.pendingJobs.map { $0.choosing(by: flight.fetched, rules.qualities) }
        flight.stage = .waiting(.render)
        flights[id] = flight
        effects.append(.request(.render, id, flight.lane, since: flight.since, flight.host))
    }

    /// Everything missing from the fetched source, or what one donor can give; nil if it must be fetched after all.
    private func renderTask(of flight: Flight, _ now: Int64) -> RenderTask? {
        if let source = flight.fetched {
            let plan = FetchedPlan(flight.missing, snapshot: flight.snapshot, fetched: source)
            return RenderTask(
                batch: plan.batch, source: source, renewed: plan.renewed, lane: flight.lane,
                traceparent: flight.traceparent)
        }
        let plan = Plan(flight.missing, snapshot: flight.snapshot, now: now, rules: rules.reuse)
        return plan.reuses.first.map {
            RenderTask(batch: $0, source: nil, renewed: [], lane: flight.lane, traceparent: flight.traceparent)
        }
    }

    mutating func announced(
        _ id: FlightID, _ task: RenderTask, _ source: SourceRow?, _ rows: [VariantRow], _ position: Int64, _ now: Int64,
        _ effects: inout [PartitionEffect]
    ) {
        guard var flight = flights[id] else { return }
        effects.append(.pass(id))
        notePass(at: now)
        if let source { flight.snapshot.source = source }
        for row in rows {
            flight.results[row.spec] = VariantOutcome(spec: row.spec, kind: task.isReuse ? .reused : .stored, row: row)
        }
        for row in rows + task.renewed {
            flight.snapshot.variants.removeAll { $0.spec == row.spec }
            flight.snapshot.variants.append(row)
        }
        // What the fetch proved good is answered by it: planned anew it might have expired meanwhile, and for ever.
        if task.source != nil, let fetched = flight.fetched {
            for row in FetchedPlan(flight.missing, snapshot: flight.snapshot, fetched: fetched).unchanged {
                flight.results[row.spec] = VariantOutcome(spec: row.spec, kind: .unchanged, row: row)
            }
        }
        flight.position = max(flight.position, position)
        flights[id] = flight
        advance(id, now, &effects)
    }

    mutating func blobsGone(_ id: FlightID, _ locations: [String], _ now: Int64, _ effects: inout [PartitionEffect]) {
        effects.append(.release(.render, id))
        flights[id]?.snapshot.variants.removeAll { locations.contains($0.location) }
        if let original = flights[id]?.snapshot.source?.original, locations.contains(original) {
            flights[id]?.snapshot.source?.original = nil
        }
        advance(id, now, &effects)
    }

    mutating func refused(
        _ id: FlightID, _ spec: VariantSpec, _ note: FailureNote, _ now: Int64, _ effects: inout [PartitionEffect]
    ) {
        effects.append(.release(.render, id))
        flights[id]?.results[spec] = VariantOutcome(spec: spec, kind: .failed, row: nil, failure: note)
        advance(id, now, &effects)
    }

    /// Nothing more to make: answers wait until the index holds what was announced.
    private mutating func land(_ id: FlightID, _ now: Int64, _ effects: inout [PartitionEffect]) {
        guard let flight = flights[id] else { return }
        if flight.position <= folded { return end(id, nil, now, &effects) }
        flights[id]?.stage = .folding(flight.position)
        folding.push(Folding(position: flight.position, flight: id))
    }

    mutating func fold(_ position: Int64, _ now: Int64, _ effects: inout [PartitionEffect]) {
        folded = max(folded, position)
        while let first = folding.first, first.position <= folded, let done = folding.pop() {
            end(done.flight, nil, now, &effects)
        }
    }

    /// The flight is over: every pending job is answered, and those that came too late are looked up anew.
    mutating func end(_ id: FlightID, _ note: FailureNote?, _ now: Int64, _ effects: inout [PartitionEffect]) {
        guard let flight = flights.removeValue(forKey: id) else { return }
        bySource[flight.source] = nil
        effects.append(.forget(id))
        for pending in flight.pendingJobs { answer(pending, flight, note, now, &effects) }
        for pending in flight.late { effects.append(.lookUp(pending)) }
    }

    private mutating func answer(
        _ pending: PendingJob, _ flight: Flight, _ note: FailureNote?, _ now: Int64, _ effects: inout [PartitionEffect]
    ) {
        func settle(_ disposition: Disposition) { effects.append(.settle(pending.record, disposition)) }
        let variants = VariantOutcomes(
            pending.job.variants.map { spec in
                flight.results[spec] ?? VariantOutcome(spec: spec, kind: .failed, row: nil, failure: note)
            })
        // The least final one: what another variant may still become is not given up for one that never will be made.
        guard let failure = variants.compactMap(\.failure).min(by: { $0.verdict < $1.verdict }) else {
            let kind =
                [OutcomeKind.stored, .reused].first { kind in variants.contains { $0.kind == kind } } ?? .unchanged
            return settle(.outcome(pending.outcome(kind, variants: variants, at: now)))
        }
        let attempts = pending.attempts + 1
        let isEndless = failure.verdict == .wait && pending.isHeldAlone(lastPass, for: Self.heldLimit, now)
        switch isEndless ? .retry : failure.verdict {
        // It would come again to be told so.
        case .retry where attempts < rules.retry.attempts && pending.isExpired(at: now),
            .wait where pending.isExpired(at: now):
            settle(.outcome(pending.outcome(.expired, at: now)))
        case .fail: settle(.outcome(pending.outcome(.failed, variants: variants, failure: failure, at: now)))
        case .retry where attempts < rules.retry.attempts:
            let wait = rules.retry.delay(after: attempts, jitter: jitter())
            let heldSince = isEndless ? pending.heldSince : nil
            putOff(
                pending.putOff(until: now + wait, attempts: attempts, heldSince: heldSince), failure, now, &effects)
        case .wait:
            hold(pending, failure, now, &effects)
        case .retry, .deadLetter:
            settle(
                .dead(
                    DeadLetter(
                        of: pending.record, id: pending.job.id, cause: failure, attempts: attempts,
                        url: pending.job.url,
                        at: now),
                    pending.outcome(.dead, variants: variants, failure: failure, at: now)))
        }
    }
}
