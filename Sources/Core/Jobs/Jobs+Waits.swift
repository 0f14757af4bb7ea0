internal import Canonical
internal import Clocks
internal import Failures
internal import Hosts
internal import ImageModel
internal import Positions
internal import Records

/// Jobs that return later: rows of `parked`.
extension Jobs {
    /// Tolerance for the difference between the clocks of workers. A job that returns early by less starts at once.
    private static let slack = Duration.seconds(1)

    /// Limit after which a job that was held back while others succeeded counts as held back by its own fault. That
    /// costs attempts, so that it ends.
    static let heldLimit = Duration.hours(1)

    /// Runs a received job, or parks it until it is due. A parked job is started once it is due, by the index.
    mutating func resume(_ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect]) {
        if pending.record.topic == .parked || pending.due <= now.wall + Self.slack {
            return effects.append(.lookUp(pending))
        }
        parkUntilDue(pending, FailureNote(RetryCause.deferred), now, &effects)
    }

    /// Defers a failed job for a retry.
    mutating func putOff(
        _ pending: PendingJob, _ cause: FailureNote, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        effects.append(.work(.putOff(pending, cause)))
        parkUntilDue(pending, cause, now, &effects)
    }

    /// Defers a job because of the machine's fault, which costs no attempt.
    mutating func hold(_ pending: PendingJob, _ cause: FailureNote, _ now: Moment, _ effects: inout [JobEffect]) {
        let since = pending.heldSince ?? now.wall
        let wait = rules.retry.delay(heldFor: now.wall - since, jitter: jitter())
        putOff(
            pending.putOff(until: now.wall + wait, attempts: pending.attempts, heldSince: since), cause, now, &effects)
    }

    /// Parks a job until it is due, for its own reasons.
    private mutating func parkUntilDue(
        _ pending: PendingJob, _ cause: FailureNote, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        park(pending.counting(crashes: crashes(of: pending)), for: share(of: pending), cause, now, &effects)
    }

    /// Time after which a job whose time is over is examined again, if its host has no room for its last attempt.
    private static let overdue = Duration.minutes(10)

    /// Gives a job a row in the share of this host: its first, or its next.
    mutating func park(
        _ pending: PendingJob, for host: OriginHost, _ cause: FailureNote, isRunning: Bool = false, _ now: Moment,
        _ effects: inout [JobEffect]
    ) {
        guard let pending = isRunning ? pending : rule(pending, now, &effects) else { return }
        let parking = Parking(
            host, isRunning: isRunning, worksAs: pending.lane(at: now.wall, rules.retry),
            ends: timeLeft(of: pending, at: now.wall).map { now.wall + ($0 > .zero ? $0 : Self.overdue) })
        effects.append(.work(.complete(pending.record, .park(pending, parking, cause))))
    }
}

extension PendingJob {
    /// Whether other jobs succeeded since the machine's fault last held this one back.
    func isHeldAlone(_ lastPass: WallTime) -> Bool { heldSince.map { max($0, record.timestamp) < lastPass } ?? false }

    func isHeldAlone(_ lastPass: WallTime, for limit: Duration, _ now: WallTime) -> Bool {
        isHeldAlone(lastPass) && heldSince.map { now - $0 >= limit } ?? false
    }
}

extension Flight {
    func isHeldAlone(_ lastPass: WallTime) -> Bool { pendingJobs.allSatisfy { $0.isHeldAlone(lastPass) } }
}
