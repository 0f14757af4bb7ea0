package import Canonical
internal import Failures
package import ImageModel
internal import Planning
package import Records

/// What hosts do to jobs: those that fail are tried again, those of a host that may not be asked wait in the tiers.
extension PartitionState {
    mutating func unfetched(
        _ id: FlightID, _ report: Unfetched, _ now: Moment, _ effects: inout [PartitionEffect]
    ) {
        guard let flight = flights[id] else { return }
        // Before the flight is forgotten: a host is known by those that ask it.
        effects.append(.permit(.hear(report.answer, id, code: report.note.code)))
        if let remembrance = report.remembrance {
            refusals.add(flight.source, report.note, remembrance, at: now.monotonic)
        }
        fail(id, report.note, by: .machine, lastPass.worker, now, &effects)
    }

    /// Its jobs go to tiers as they came, without an attempt: the tier is as long as their host has been away, or will be.
    mutating func held(
        _ id: FlightID, _ hold: PermitScheduler.Hold, _ now: Moment, _ effects: inout [PartitionEffect]
    ) {
        guard let flight = flights[id], flight.course == nil else { return }
        remove(flight)
        effects.append(.permit(.forget(id)))
        let cause = FailureNote(RetryCause.hostBlocked(host: hold.host.description, code: hold.code))
        for pending in flight.pendingJobs {
            if pending.isExpired(at: now.wall) {
                effects.answer(pending, .expired, at: now)
            } else if let standIn = fallback(pending, flight.snapshot, flight.results, now) {
                answer(pending, by: standIn, cause, now, &effects)
            } else if isGivenUp(pending, at: now.wall) {
                let end = FailureNote(RetryCause.hostGivenUp(host: hold.host.description, code: hold.code))
                let variants = flight.outcomes(of: pending, failing: end)
                effects.setAside(pending, variants: variants, end, attempts: pending.attempts, at: now)
            } else {
                passOn(held: pending, for: hold.wait, cause, now, &effects)
            }
        }
        for pending in flight.late { effects.append(.lookUp(pending)) }
    }

    /// No tier is as short as what some jobs have left: these wait in memory, where there is room.
    private mutating func passOn(
        held pending: PendingJob, for wait: Int64, _ cause: FailureNote, _ now: Moment,
        _ effects: inout [PartitionEffect]
    ) {
        let failing = pending.failingSince ?? now.wall
        let later = pending.putOff(
            until: 0, attempts: pending.attempts, heldSince: pending.heldSince, failingSince: failing)
        let left = timeLeft(of: later, at: now.wall)
        if left < DelayTier.shortest {
            // A host that was away for no time yet is not looked at with each tick.
            let until = now.wall + min(max(wait, 1_000), left)
            let host = rules.origins.groups.origin(of: pending.job.url.fetched)
            let kept = later.putOff(until: until, attempts: later.attempts, heldSince: later.heldSince)
            if keep(kept, for: host, now) { return }
        }
        passOn(later, failingSince: failing, for: wait, cause, now, &effects)
    }

    /// Until the job is given up, or its own time is over.
    func timeLeft(of pending: PendingJob, at now: Int64) -> Int64 {
        let isGivenUp = pending.failingSince != nil && !pending.job.isOwn
        let patience = isGivenUp ? (pending.job.giveUp ?? rules.retry.giveUp) - pending.failing(at: now) : .max
        return min(patience, pending.job.expires.map { $0 > now ? $0 - now : 0 } ?? .max)
    }

    /// Whether its host has been at fault for too long. Nobody waits for jobs of our own, so nobody gives them up.
    private func isGivenUp(_ pending: PendingJob, at now: Int64) -> Bool {
        !pending.job.isOwn
            && rules.retry.isOver(
                after: 0, isOrigins: true, failing: pending.failing(at: now), giveUp: pending.job.giveUp, limit: nil)
    }

    /// The job goes on in a tier. It may run before the tier's wait is over: nothing but its host holds it back.
    mutating func passOn(
        _ pending: PendingJob, failingSince: Int64? = nil, for wait: Int64, _ cause: FailureNote, _ now: Moment,
        _ effects: inout [PartitionEffect]
    ) {
        let later = pending.putOff(
            until: 0, attempts: pending.attempts, heldSince: pending.heldSince, failingSince: failingSince)
        let tier = DelayTier(
            within: wait, later.lane(at: now.wall, rules.retry), atMost: timeLeft(of: later, at: now.wall))
        countAway(rules.origins.groups.origin(of: pending.job.url.fetched), pending.job.lane, 1)
        effects.append(
            .work(.answer(pending.record, .retry(later.told(deaths: suspects.deaths(of: pending.place)), tier, cause))))
    }

    /// A flood of one host leaves three quarters of what is read to others.
    mutating func isCrowded(
        _ origin: OriginHost, _ pending: PendingJob, _ now: Moment, _ effects: inout [PartitionEffect]
    ) -> Bool {
        guard room(for: origin) <= 0 else { return false }
        let cause = RetryCause.hostCrowded(host: origin.description)
        passOn(pending, for: now.wall - pending.firstSeen, FailureNote(cause), now, &effects)
        return true
    }

    /// While its jobs wait for their turn, a flood of one host holds back the committable offset, and no more is read behind
    /// that than a progress row can tell: the oldest of them wait in a tier instead.
    mutating func passOnOldest(
        of topic: Topic, below offset: Int64, _ now: Moment, _ effects: inout [PartitionEffect]
    ) {
        for (id, flight) in flights {
            guard case .queued(.fetch) = flight.stage, isCrowded(flight.origin), !runsAlone(flight)
            else { continue }
            let isOld = { (pending: PendingJob) in pending.record.topic == topic && pending.record.offset < offset }
            let old = flight.pendingJobs.filter(isOld)
            if old.isEmpty { continue }
            flights[id]?.pendingJobs.removeAll(where: isOld)
            countJobs(of: flight.origin, -old.count)
            let cause = FailureNote(RetryCause.hostCrowded(host: flight.origin.description))
            for pending in old { passOn(pending, for: now.wall - pending.firstSeen, cause, now, &effects) }
            if let flight = flights[id], flight.pendingJobs.isEmpty { end(id, now, &effects) }
        }
    }

    /// Whether its flights fill half of its share of the memory.
    func isCrowded(_ origin: OriginHost) -> Bool { hostJobs[origin, default: 0] >= rules.hostShare / 2 }

    /// So many more jobs of the host may wait in memory.
    package func room(for origin: OriginHost, atMost use: Int = .max) -> Int {
        min(rules.hostShare, use) - hostJobs[origin, default: 0]
    }

    /// One has come back from its tier.
    mutating func countBack(_ pending: PendingJob) {
        defer { jobsLeftAway.read(pending.record.topic, upTo: pending.record.offset + 1) }
        // In a tier it was for its host's sake alone.
        guard pending.heldBy != nil else { return }
        let origin = rules.origins.groups.origin(of: pending.job.url.fetched)
        if !jobsLeftAway.take(origin, pending.job.lane) { countAway(origin, pending.job.lane, -1) }
    }

    private mutating func countAway(_ origin: OriginHost, _ lane: Lane, _ step: Int) {
        guard jobsAway[origin] != nil || jobsAway.count < Self.hostsAway else { return }
        let count = (jobsAway[origin]?[lane] ?? 0) + step
        jobsAway[origin, default: [:]][lane] = count > 0 ? count : nil
        if jobsAway[origin]?.isEmpty == true { jobsAway[origin] = nil }
    }

    /// Jobs that wait for their host outside its queue: in tiers as far as this owner knows, and in memory.
    package var hostWaits: [OriginHost: ByLane<Int>] {
        waits.heldJobs.reduce(into: inTiers) { $0[$1.key, default: .none] = ($0[$1.key] ?? .none) + ByLane($1.value) }
    }

    private var inTiers: [OriginHost: ByLane<Int>] {
        jobsLeftAway.jobs.merging(jobsAway.mapValues { ByLane($0) }, uniquingKeysWith: +)
    }

    /// What an earlier owner has told.
    package mutating func leave(_ away: [ProgressRow.Away]) { jobsLeftAway = JobsLeftAway(away) }

    /// For the next owner.
    package var away: [ProgressRow.Away] {
        if jobsAway.isEmpty, jobsLeftAway.jobs.isEmpty { return [] }
        let most = inTiers.sorted {
            ($1.value.sum, $0.key.description) < ($0.value.sum, $1.key.description)
        }
        return most.prefix(ProgressRow.awayLimit).map { ProgressRow.Away($0.key.description, $0.value) }
    }

    /// Hosts whose waiting jobs are counted for people.
    package static let hostsAway = 4_096

    mutating func countJobs(of origin: OriginHost, _ step: Int) {
        let count = hostJobs[origin, default: 0] + step
        hostJobs[origin] = count == 0 ? nil : count
    }

    /// The flight is none any more.
    mutating func remove(_ flight: Flight) {
        flights[flight.id] = nil
        bySource[flight.source] = nil
        countJobs(of: flight.origin, -flight.pendingJobs.count - flight.late.count)
    }
}
