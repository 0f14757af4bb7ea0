internal import Canonical
package import Clocks
internal import Failures
internal import HTTPCache
internal import Hosts
internal import ImageModel
internal import Ledger
internal import Permits
internal import Planning
internal import Ports
internal import Records
internal import VariantSpec

/// Ends of flights, and the outcomes of their jobs.
extension Jobs {
    /// Ends the work of a flight. Outcomes wait until the index holds the announced rows.
    mutating func land(_ id: FlightID, _ now: Moment, _ effects: inout [JobEffect]) {
        guard let course = flights[id]?.course, course.position > folded, !isLeaving else {
            return finish(id, now, &effects)
        }
        flights[id]?.stage = .folding(course.position, course)
        folding.push(Folding(position: course.position, flight: id))
    }

    package mutating func fold(_ position: Int64, _ now: Moment, _ effects: inout [JobEffect]) {
        folded = max(folded, position)
        while let first = folding.first, first.position <= folded, let done = folding.pop() {
            finish(done.flight, now, &effects)
        }
    }

    /// Completes a flight's jobs. If its source has changed, the other stored variants are then rendered again on the
    /// slow lane.
    mutating func finish(_ id: FlightID, _ now: Moment, _ effects: inout [JobEffect]) {
        guard var flight = flights[id], let course = flight.course,
            !flight.outdated.isEmpty || course.change?.variants(by: flight.snapshot.variants).isEmpty == false
        else { return end(id, now, &effects) }
        let done = flight
        (flight.pendingJobs, flight.late, flight.isRemaking, flight.lane) = ([], [], true, .background)
        flight.stage = .waiting(.render, course)
        flights[id] = flight
        complete(done, nil, lastPass.worker, now, &effects)
        request(.render, for: flight, &effects)
        for pending in done.late { effects.append(.lookUp(pending)) }
    }

    mutating func end(_ id: FlightID, _ now: Moment, _ effects: inout [JobEffect]) {
        end(id, nil, lastPass.worker, now, &effects)
    }

    /// Ends a flight: every pending job gets an outcome, and jobs that came too late are looked up again.
    ///
    /// - Parameters:
    ///   - note: the reason for its failure; nil if it succeeded.
    ///   - lastPass: time when other flights last got past the part that failed here.
    mutating func end(
        _ id: FlightID, _ note: FailureNote?, _ lastPass: WallTime, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        guard let flight = flights[id] else { return }
        flights[id] = nil
        effects.append(flight.isFetching && note == nil ? .work(.abort(id)) : .permit(.forget(id)))
        complete(flight, note, lastPass, now, &effects)
        for pending in flight.late { effects.append(.lookUp(pending)) }
    }

    private mutating func complete(
        _ flight: Flight, _ note: FailureNote?, _ lastPass: WallTime, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        if flight.course != nil { outlive(flight.pendingJobs) }
        var flight = flight
        // Stored variants do not fail with the others.
        if note != nil, !flight.mustAsk { flight.keep(plan(flight.missing, flight, now).unchanged) }
        for pending in flight.pendingJobs { complete(pending, flight, note, lastPass, now, &effects) }
    }

    private mutating func complete(
        _ pending: PendingJob, _ flight: Flight, _ note: FailureNote?, _ lastPass: WallTime, _ now: Moment,
        _ effects: inout [JobEffect]
    ) {
        let variants = flight.outcomes(of: pending, failing: note)
        // The least final failure counts: a variant that may still succeed is not abandoned because another never will.
        guard let failure = variants.compactMap(\.failure).min(by: { $0.verdict < $1.verdict }) else {
            settle(pending.job)
            let kind =
                [OutcomeKind.stored, .reused].first { kind in variants.contains { $0.kind == kind } } ?? .unchanged
            return effects.complete(pending, kind, variants: variants, at: now)
        }
        if failure.isOutage, let standIn = fallback(pending, flight.snapshot, flight.results, now) {
            return complete(pending, by: standIn, failure, now, &effects)
        }
        // Nobody waits for a job of the worker's own, and it is never abandoned: it is retried until its origin
        // responds, or it expires.
        if pending.job.isOwn, failure.isOutage, !pending.isExpired(at: now.wall) {
            let wait = rules.retry.delay(heldFor: now.wall - pending.firstSeen, jitter: jitter())
            return putOff(
                pending.putOff(
                    until: now.wall + wait, attempts: pending.attempts, failingSince: pending.failingSince ?? now.wall),
                failure, now, &effects)
        }
        settle(pending.job)
        let attempts = pending.attempts + 1
        let isOrigins = FetchFailure.Code(rawValue: failure.code) != nil
        let failingSince = isOrigins ? pending.failingSince ?? now.wall : pending.failingSince
        let bound = rules.retry.bound(
            after: attempts, isOrigins: isOrigins, failing: pending.failing(at: now.wall), retryFor: pending.job.retryFor,
            limit: rules.origins.limits(of: flight.origin).attempts)
        let isEndless = failure.verdict == .wait && pending.isHeldAlone(lastPass, for: Self.heldLimit, now.wall)
        switch isEndless ? .retry : failure.verdict {
        // The job would return only to expire.
        case .retry where bound == nil && pending.isExpired(at: now.wall),
            .wait where pending.isExpired(at: now.wall):
            effects.complete(pending, .expired, at: now)
        case .fail where pending.job.isChange:
            end(change: pending, .failed, flight.snapshot, variants: variants, failure: failure, at: now, &effects)
        case .fail: effects.complete(pending, .failed, variants: variants, failure: failure, at: now)
        case .retry where bound == nil:
            let wait = rules.retry.delay(after: attempts, jitter: jitter())
            let heldSince = isEndless ? pending.heldSince : nil
            func later(_ wait: Duration) -> PendingJob {
                pending.putOff(
                    until: now.wall + wait, attempts: attempts, heldSince: heldSince, failingSince: failingSince)
            }
            // The last attempt comes when its time is over, and not a whole wait later.
            let left = isOrigins ? timeLeft(of: later(wait), at: now.wall) : nil
            putOff(later(left.map { min(wait, $0) } ?? wait), failure, now, &effects)
        case .wait:
            hold(pending, failure, now, &effects)
        case .retry, .deadLetter:
            let end = bound.map { failure.final(after: attempts, $0) } ?? failure
            effects.deadLetter(pending, variants: variants, end, attempts: attempts, at: now)
        }
    }
}
