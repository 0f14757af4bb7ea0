internal import Canonical
package import Clocks
internal import Failures
internal import ImageModel
internal import Ledger
internal import Positions
package import Records

/// Jobs that come again: short waits are kept in memory, longer ones go to the retry topics.
///
/// The record of a job that waits in memory is not finished: a crash makes it come again. How often it was tried is in the
/// partition's progress row meanwhile, so that the next owner goes on counting there.
extension Jobs {
    /// The clocks of brokers and workers differ: what comes so little too early is begun at once.
    private static let slack = Duration.seconds(1)

    /// A job that was held back for so long while others were done is held back by its own fault: that costs attempts, so
    /// that it ends.
    static let heldLimit = DelayTier.hour.wait

    /// A job that was received runs, or goes on waiting.
    mutating func resume(_ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect]) {
        var pending = pending
        if let left = waits.takeInherited(pending.place) {
            // Of a clock that was ahead they would put the job off for as long.
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

    /// A job that failed is tried again later.
    mutating func putOff(
        _ pending: PendingJob, _ cause: FailureNote, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        let pending = pending.putOff(
            until: pending.notBefore, attempts: pending.attempts, heldSince: pending.heldSince, code: cause.code)
        effects.append(.work(.putOff(pending, cause)))
        if !keep(pending, now) { goOn(pending, now, &effects, because: cause) }
    }

    /// It waits in memory, if that is for a short time and there is room.
    ///
    /// - Parameter host: that it waits for, if for nothing else.
    mutating func keep(_ pending: PendingJob, for host: OriginHost? = nil, _ now: Moment) -> Bool {
        // A record of a log that was replaced does not come again.
        guard isShort(pending, now), pending.record.incarnation == incarnations[pending.record.topic],
            waits.hasRoom(for: pending.place, limit: rules.shortWaits)
        else { return false }
        waits.remember(pending)
        waits.add(pending, for: host, at: now)
        return true
    }

    /// The machine's fault, not the job's: it costs no attempt.
    mutating func hold(_ pending: PendingJob, _ cause: FailureNote, _ now: Moment, _ effects: inout [JobEffect]) {
        let since = pending.heldSince ?? now.wall
        let wait = rules.retry.delay(heldFor: now.wall - since, jitter: jitter())
        putOff(
            pending.putOff(until: now.wall + wait, attempts: pending.attempts, heldSince: since), cause, now, &effects)
    }

    /// Those whose time has come run. One that holds back too many others goes to a retry topic.
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

    /// Whether all that was taken up, so many jobs, waits in memory until later than this.
    package func waits(_ unfinished: Int, beyond limit: Instant) -> Bool {
        unfinished == waits.count && (waits.next ?? .distantFuture) > limit
    }

    /// Of the topic's jobs, those that wait in memory for their time.
    package func waiting(_ topic: Topic) -> Int { waits.count(topic) }

    /// The same with how often they were tried, for a progress row.
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
        let pending = pending.told(deaths: suspects.deaths(of: pending.place))
        let rest = pending.due - now.wall
        // Of jobs of ours the wait is spread, and is not to end with a tier's.
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
    /// Whether others were done since the machine's fault last held this one back.
    func isHeldAlone(_ lastPass: WallTime) -> Bool { heldSince.map { max($0, record.timestamp) < lastPass } ?? false }

    func isHeldAlone(_ lastPass: WallTime, for limit: Duration, _ now: WallTime) -> Bool {
        isHeldAlone(lastPass) && heldSince.map { now - $0 >= limit } ?? false
    }
}

extension Flight {
    func isHeldAlone(_ lastPass: WallTime) -> Bool { pendingJobs.allSatisfy { $0.isHeldAlone(lastPass) } }
}
