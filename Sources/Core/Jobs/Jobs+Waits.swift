internal import Canonical
package import Clocks
internal import Failures
internal import ImageModel
internal import Ledger
internal import Positions
package import Records

/// Jobs that return later. Short waits are kept in memory, longer ones go to the retry topics.
///
/// The record of a job that waits in memory is not finished, so a crash makes it return. The partition's progress row
/// holds its number of attempts meanwhile, so that the next owner continues the count.
extension Jobs {
    /// Tolerance for the difference between the clocks of brokers and workers. A job that returns early by less starts
    /// at once.
    private static let slack = Duration.seconds(1)

    /// Limit after which a job that was held back while others succeeded counts as held back by its own fault. That
    /// costs attempts, so that it ends.
    static let heldLimit = DelayTier.hour.wait

    /// Runs a received job, or continues its wait.
    mutating func resume(_ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect]) {
        var pending = pending
        if let left = waits.takeInherited(pending.place) {
            // Times from a clock that was ahead would defer the job for as long.
            pending = pending.putOff(
                until: min(left.notBefore, now.wall + RecordLimits.longestWait), attempts: left.attempts,
                heldSince: left.heldSince.map { min($0, now.wall) },
                failingSince: left.failingSince.map { min($0, now.wall) }, code: left.code)
            waits.remember(pending)
        }
        let slack = DelayTier(pending.record.topic) == nil ? .zero : Self.slack
        guard pending.due > now.wall + slack else { return effects.append(.lookUp(pending)) }
        if isShort(pending, now) { return waits.add(pending, at: now) }
        goOn(pending, now, &effects)
    }

    /// Defers a failed job for a retry.
    mutating func putOff(
        _ pending: PendingJob, _ cause: FailureNote, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        let pending = pending.putOff(
            until: pending.notBefore, attempts: pending.attempts, heldSince: pending.heldSince, code: cause.code)
        effects.append(.work(.putOff(pending, cause)))
        if !keep(pending, now) { goOn(pending, now, &effects, because: cause) }
    }

    /// Keeps the job in memory, if its wait is short and there is space. Returns whether it did.
    ///
    /// - Parameter host: the host that it waits for, if it waits for nothing else.
    mutating func keep(_ pending: PendingJob, for host: OriginHost? = nil, _ now: Moment) -> Bool {
        // A record of a log that was replaced does not return.
        guard isShort(pending, now), pending.record.incarnation == incarnations[pending.record.topic],
            waits.hasRoom(for: pending.place, limit: rules.shortWaits)
        else { return false }
        waits.remember(pending)
        waits.add(pending, for: host, at: now)
        return true
    }

    /// Defers a job because of the machine's fault, which costs no attempt.
    mutating func hold(_ pending: PendingJob, _ cause: FailureNote, _ now: Moment, _ effects: inout [JobEffect]) {
        let since = pending.heldSince ?? now.wall
        let wait = rules.retry.delay(heldFor: now.wall - since, jitter: jitter())
        putOff(
            pending.putOff(until: now.wall + wait, attempts: pending.attempts, heldSince: since), cause, now, &effects)
    }

    /// Runs jobs whose wait is over. A job that holds back too many others goes to a retry topic.
    mutating func endWaits(_ positions: Positions, _ now: Moment, _ effects: inout [JobEffect]) {
        while let pending = waits.popDue(at: now) { effects.append(.lookUp(pending)) }
        guard waits.count > 0 else { return }
        for topic in Topic.worked {
            guard let oldest = positions.oldest(topic), oldest.span > rules.waitSpan,
                let pending = waits.remove(oldest.place)
            else { continue }
            goOn(pending, now, &effects)
        }
    }

    /// Whether all accepted jobs, `unfinished` in number, wait in memory until later than `limit`.
    package func waits(_ unfinished: Int, beyond limit: Instant) -> Bool {
        unfinished == waits.count && (waits.next ?? .distantFuture) > limit
    }

    /// Number of the topic's jobs that wait in memory until they are due.
    package func waiting(_ topic: Topic) -> Int { waits.count(topic) }

    /// The topic's waiting jobs with their number of attempts, for a progress row.
    package func waits(_ topic: Topic, from next: Int64) -> [TopicProgress.Wait] {
        waits.progress(topic, incarnation: incarnations[topic], from: next)
    }

    private func isShort(_ pending: PendingJob, _ now: Moment) -> Bool {
        pending.due - now.wall < DelayTier.shortest && waits.count < rules.shortWaits
    }

    private func goOn(
        _ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect],
        because cause: FailureNote = FailureNote(RetryCause.deferred)
    ) {
        let pending = pending.told(deaths: crashes(of: pending))
        let rest = pending.due - now.wall
        // The wait of the worker's own jobs is spread, and must not end with a topic's delay.
        let limit = pending.job.isOwn ? rest : timeLeft(of: pending, at: now.wall)
        effects.append(
            .work(
                .answer(
                    pending.record,
                    .retry(
                        pending,
                        DelayTier(within: rest, pending.lane(at: now.wall, rules.retry), atMost: limit), cause))))
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
