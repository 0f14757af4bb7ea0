internal import Canonical
package import Clocks
internal import Failures
package import Hosts
internal import ImageModel
package import Ledger
package import Permits
internal import Planning
package import Ports
internal import Positions
internal import Records
internal import VariantSpec

/// Effects of hosts on jobs: jobs of failing hosts are retried, and jobs of hosts that may not be asked are parked.
extension Jobs {
    package mutating func unfetched(
        _ id: FlightID, _ report: Unfetched, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        guard let flight = flights[id] else { return }
        // Before the flight is forgotten, because the scheduler knows its host by the flight.
        effects.append(
            .permit(.hear(report.response, id, code: report.note.code, failingSince: flight.failingSince)))
        if let remembrance = report.remembrance {
            refusals.add(
                flight.source, at: flight.url, report.note, remembrance, validators: report.validators,
                at: now.monotonic)
            lookUpOthers(id)
        }
        fail(id, report.note, by: .machine, now, &effects)
    }

    /// Moves jobs with other URLs of the source to the late jobs: the result of this URL shows nothing about theirs.
    private mutating func lookUpOthers(_ id: FlightID) {
        guard var flight = flights[id] else { return }
        let url = flight.url
        setLate(&flight) { $0.job.url != url }
        flights[id] = flight
    }

    /// Moves jobs that the flight cannot serve to its late jobs, which are looked up once it is over.
    mutating func setLate(_ flight: inout Flight, _ isLate: (PendingJob) -> Bool) {
        let others = flight.pendingJobs.filter(isLate)
        if others.isEmpty { return }
        outlive(others)
        flight.pendingJobs.removeAll(where: isLate)
        flight.late.insert(contentsOf: others, at: 0)
    }

    /// Continues a redirected fetch. Another host's permit is requested like a first permit, with the flight's age. If
    /// it is not available now, the jobs are parked and start again at their own URL. Its redirect may have changed by
    /// then, or may be temporary.
    package mutating func redirected(
        _ id: FlightID, _ redirect: Redirect, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        guard var flight = flights[id], case .fetching(let host, let course) = flight.stage else { return }
        let target = rules.origins.groups.origin(of: redirect.host.description)
        let held = pauses.redirect(to: [target, redirect.host])
        if target == host, held == nil {
            return effects.append(.work(.fetch(id, fetchRequest(of: flight, redirect, now))))
        }
        effects.append(.permit(.hear(.responded(bytes: 0), id, code: "")))
        effects.append(.permit(.release(.fetch, id)))
        flight.stage = .redirected(target, redirect, course)
        flights[id] = flight
        if isLeaving { return leave(flight, &effects) }
        guard held == nil, share(flight, with: target) else {
            let cause = held.map { FailureNote(RetryCause.paused($0.pause)) } ?? origins.crowded(target)
            return giveBack(flight, &effects) { state, pending, effects in
                state.park(pending, awaiting: held?.host ?? target, cause, now, &effects)
            }
        }
        request(.fetch, for: flight, &effects)
    }

    /// Counts the flight's jobs for this host from now on. False: the host has no room for them.
    private mutating func share(_ flight: Flight, with host: OriginHost) -> Bool {
        if flight.share == host { return true }
        guard room(for: HostLane(host, flight.lane)) > 0 else { return false }
        flights[flight.id]?.share = host
        return true
    }

    /// Ends a flight that waits for a permit while its partition leaves. The next owner requests the permit.
    mutating func leave(_ flight: Flight, _ effects: inout [JobEffect]) {
        flights[flight.id] = nil
        effects.append(.permit(.forget(flight.id)))
    }

    func fetchRequest(of flight: Flight, _ redirect: Redirect?, _ now: Moment) -> FetchRequest {
        FetchRequest(
            url: flight.url, lane: flight.lane, known: known(of: flight, now), redirect: redirect,
            needsAlpha: flight.pendingJobs.contains { $0.job.variants.contains(where: \.isChosenByAlpha) })
    }

    /// Ends a flight without a result. `pass` handles each of its jobs, and jobs that came too late are looked up
    /// again.
    private mutating func giveBack(
        _ flight: Flight, _ effects: inout [JobEffect],
        _ pass: (inout Jobs, PendingJob, inout [JobEffect]) -> Void
    ) {
        guard let flight = flights[flight.id] else { return }
        flights[flight.id] = nil
        effects.append(.permit(.forget(flight.id)))
        if flight.course != nil { outlive(flight.pendingJobs) }
        for pending in flight.pendingJobs { pass(&self, pending, &effects) }
        for pending in flight.late { effects.append(.lookUp(pending)) }
    }

    /// Parks the flight's jobs until their host is asked again, without counting an attempt.
    package mutating func held(
        _ id: FlightID, _ hold: PermitScheduler.Hold, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        guard let flight = flights[id], flight.isInQueue else { return }
        let cause = FailureNote(RetryCause.hostBlocked(host: hold.host.description, code: hold.code))
        giveBack(flight, &effects) { state, pending, effects in
            if pending.isExpired(at: now.wall) {
                effects.complete(pending, .expired, at: now)
            } else if let standIn = state.fallback(pending, flight.snapshot, flight.results, now) {
                state.complete(pending, by: standIn, cause, now, &effects)
            } else if state.isGivenUp(pending, at: now.wall) {
                let end = FailureNote(RetryCause.hostGivenUp(host: hold.host.description, code: hold.code))
                let variants = flight.outcomes(of: pending, failing: end)
                effects.deadLetter(pending, variants: variants, end, attempts: pending.attempts, at: now)
            } else {
                state.park(
                    pending, awaiting: hold.host, failingSince: pending.failingSince ?? now.wall, cause, now, &effects)
            }
        }
    }

    /// Time until the job is abandoned or expires; nil: it never does either.
    func timeLeft(of pending: PendingJob, at now: WallTime) -> Duration? {
        let isGivenUp = pending.failingSince != nil && !pending.job.isOwn
        let patience = isGivenUp ? (pending.job.retryFor ?? rules.retry.retryFor) - pending.failing(at: now) : nil
        return [patience, pending.job.expires.map { max(.zero, $0 - now) }].compactMap(\.self).min()
    }

    /// Whether the host has been at fault for too long. Jobs of the worker's own are never abandoned, because nobody
    /// waits for them.
    private func isGivenUp(_ pending: PendingJob, at now: WallTime) -> Bool {
        !pending.job.isOwn
            && rules.retry.bound(
                after: 0, isOrigins: true, failing: pending.failing(at: now), retryFor: pending.job.retryFor, limit: nil)
                != nil
    }

    /// Parks a job that waits for nothing but this host.
    mutating func park(
        _ pending: PendingJob, awaiting host: OriginHost, failingSince: WallTime? = nil, _ cause: FailureNote,
        _ now: Moment, _ effects: inout [JobEffect]
    ) {
        let later = pending.awaiting(
            host == origin(of: pending) ? nil : host, failingSince: failingSince, crashes: crashes(of: pending))
        park(later, for: host, cause, now, &effects)
    }

    /// Parks a job whose host holds its share of memory, or behind whose host and lane older jobs are parked. So a flood
    /// of one host leaves three quarters of its lane's read-ahead to others, and its jobs start by age.
    mutating func isCrowded(
        _ share: HostLane, _ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect]
    ) -> Bool {
        let isBehind = pending.record.topic != .parked && parked.contains(share)
        guard isBehind || room(for: share) <= 0 else { return false }
        park(pending, awaiting: share.host, origins.crowded(share.host), now, &effects)
        return true
    }

    /// Host whose share of memory the job takes. If redirects led to a host that it had to wait for, they will lead
    /// there again.
    mutating func share(of pending: PendingJob) -> OriginHost { pending.awaited ?? origin(of: pending) }

    /// Host that is asked for the job's source.
    mutating func origin(of pending: PendingJob) -> OriginHost {
        origins.origin(of: pending.job.url, in: rules.origins.groups)
    }

    /// Whether its flights fill half of its share of memory.
    func isCrowded(_ share: HostLane) -> Bool { flights.held(share) >= rules.hostShare / 2 }

    /// Number of further jobs of the host that may wait in memory on this lane.
    package func room(for share: HostLane, atMost use: Int = .max) -> Int {
        min(rules.hostShare, use) - flights.held(share)
    }
}
