internal import Clocks
internal import KafkaSetup
package import Ports
package import Posix
package import Records
internal import Synchronization

/// The owning side of a Kafka log: a member of the group that shares the partitions.
///
/// It subscribes to `jobs.fast` alone, the fingerprint. With each partition that the group assigns, it takes the same
/// partition of the other topics and of the changelog. So jobs of one source meet in one worker under any assignor.
///
/// - Concurrency: an actor on the thread that polls. Calls that the port requires on the executor assert that they run
///   there. Blocking work (questions at assignment, the end of the client) runs on other threads.
package actor KafkaLogConsumer: LogConsumer {
    nonisolated let log: KafkaLog
    nonisolated let thread = PollThread("kafka poll")
    /// Lock that names the last member of this place; nil: successive workers of this place know nothing of each other.
    nonisolated let place: FileLock?
    /// Set by the thread that waited for the former member's end; read at the next turn.
    nonisolated let mayJoin = Atomic(false)
    /// Assignments prepared by other threads, taken up at the next turn. While leaders are away, a rebalance comes in
    /// parts.
    nonisolated let prepared = Mutex<[Result<Assignment, LogFailure>]>([])
    /// Number of the group's current decision: a thread that prepares an older one stops.
    nonisolated let decision = Atomic(0)
    /// Ends threads that must not outlive the consumer.
    nonisolated let isStopped = Atomic(false)

    var listener: (any LogListener)?
    var member: GroupMember?
    var phase = Phase.idle
    /// Queues by slot: topic by topic, partition by partition.
    var queues: [PartitionQueue?] = []
    /// Assigned partitions that cannot be taken up yet.
    var awaited: Set<PartitionID> = []
    /// Generation of the group in which partitions were added to those being read.
    var lateGeneration: Int64?
    /// Committable offsets since the last commit.
    var pending: [KafkaPlace: Int64] = [:]
    /// Offsets stored in librdkafka for a commit, and not known as durable.
    var stored: [KafkaPlace: Int64] = [:]
    /// Offsets to commit by name: offsets that went back, and those of topics that the member's client does not read
    /// itself.
    var named: [KafkaPlace: Int64] = [:]
    /// The group's offsets, as far as the coordinator acknowledged them.
    var committed: [KafkaPlace: Int64] = [:]
    /// Time of the next commit of offsets that did not move.
    var nextRecommit = Instant.distantFuture
    var commitDue: Instant?
    var commitsUnderWay = 0
    private var nextSweep = Instant.distantPast
    /// Time of the next attempt at seeks that librdkafka refused.
    private var nextSeek = Instant.distantFuture
    private var pulse: PulseThread?

    /// This member's reaction to the group's decision.
    enum Phase {
        /// Owns nothing.
        case idle
        /// Was assigned partitions, and asks for their bounds.
        case preparing
        /// Has taken these partitions up; other assigned ones may be `awaited`.
        case owning([PartitionID])
        /// Finishes the partitions that it must release; those in `waiting` are not released yet.
        case revoking([PartitionID], waiting: Set<PartitionID>, deadline: Instant)
        /// Waits for its last commits before it releases its partitions.
        case committing(deadline: Instant)
        /// Leaves the group, once the last commits are made: `isLeaving`.
        case stopping(isLeaving: Bool, deadline: Instant, done: CheckedContinuation<Void, Never>)
    }

    static let sweepInterval = Duration.seconds(1)
    private static let seekInterval = Duration.milliseconds(20)
    /// A stop that takes longer ends without the coordinator's response.
    static let stopLimit = Duration.seconds(10)

    package nonisolated var executor: any SerialExecutor { thread }
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init(_ log: KafkaLog, at place: FileLock? = nil) { (self.log, self.place) = (log, place) }

    package func start(_ listener: any LogListener) async throws(LogFailure) {
        try await OwnThread.result("kafka topics") { [log] () throws(LogFailure) in try log.checkStart() }
        var configuration = log.configuration
        configuration.clientID = MemberName(configuration.clientID, partitions: log.partitionCount).clientID
        let member = try GroupMember(configuration)
        try join(member)
        queues = Array(repeating: nil, count: Topic.owned.count * log.partitionCount)
        (self.listener, self.member) = (listener, member)
        let timing = log.configuration.timing
        log.fence.begin(session: timing.session, at: SystemTime.monotonic)
        pulse = PulseThread(log.fence, stall: timing.stall)
        watchTopics()
        thread.poll([member.wake.readable]) { [weak self] in self?.assumeIsolated { $0.turn() } }
    }

    package nonisolated func drain(_ topic: Topic, _ partition: PartitionID, limit: Int) throws(LogFailure) -> [Record]
    {
        try onExecutor { (consumer) throws(LogFailure) in
            try consumer.queue(KafkaPlace(topic, partition))?.drain(limit) ?? []
        }
    }

    package nonisolated func rewind(
        _ topic: Topic, _ partition: PartitionID, to offset: Int64
    ) throws(LogFailure) {
        try onExecutor { (consumer) throws(LogFailure) in
            let place = KafkaPlace(topic, partition)
            guard consumer.member != nil, let queue = consumer.queue(place) else { throw .closed }
            queue.rewind(to: offset)
            // Reading drops the records that librdkafka held, so that the queue wakes us again.
            consumer.tellReadable(consumer.slot(of: place))
            if queue.isSeeking {
                consumer.nextSeek = .distantPast
                consumer.thread.wake()
            }
        }
    }

    package nonisolated func position(_ topic: Topic, _ partition: PartitionID) -> Int64? {
        assumeIsolated { $0.queue(KafkaPlace(topic, partition))?.position }
    }

    package nonisolated var ownsNothing: Bool {
        assumeIsolated { if case .owning(let held) = $0.phase { held.isEmpty && $0.awaited.isEmpty } else { false } }
    }

    package nonisolated var isAwaiting: Bool { assumeIsolated { !$0.awaited.isEmpty } }

    /// Partitions of a worker that just left arrive within this time.
    package nonisolated var quietTime: Duration { .seconds(2) }

    package nonisolated func commit(_ topic: Topic, _ partition: PartitionID, below offset: Int64) {
        assumeIsolated { $0.note(offset, of: KafkaPlace(topic, partition)) }
    }

    package nonisolated func committed(_ topic: Topic, _ partition: PartitionID) -> Int64? {
        assumeIsolated { $0.committed[KafkaPlace(topic, partition)] }
    }

    package nonisolated func restart(
        _ topic: Topic, _ partition: PartitionID, at offset: Int64
    ) throws(LogFailure) {
        try rewind(topic, partition, to: offset)
        assumeIsolated { $0.noteRestart(at: offset, of: KafkaPlace(topic, partition)) }
    }

    package nonisolated func release(_ partition: PartitionID) {
        assumeIsolated { consumer in
            guard case .revoking(let held, var waiting, let deadline) = consumer.phase else { return }
            waiting.remove(partition)
            consumer.phase = .revoking(held, waiting: waiting, deadline: deadline)
            if waiting.isEmpty { consumer.thread.wake() }
        }
    }

    package func stop() async {
        isStopped.store(true, ordering: .relaxed)
        guard member != nil, listener != nil else { return }
        listener = nil
        decision.add(1, ordering: .relaxed)
        await withCheckedContinuation { done in
            phase = .stopping(isLeaving: false, deadline: SystemTime.monotonic + Self.stopLimit, done: done)
            commitLast()
            thread.wake()
        }
        log.fence.end()
    }

    /// Serves one wake-up: its cause, the group's decisions, due work. Returns the time of the next turn.
    private func turn() -> Instant? {
        guard let member else { return nil }
        let now = SystemTime.monotonic
        pulse?.noteTurn(at: now)
        // Opened last: appends for the partitions that go must find it shut.
        if log.fence.isShut {
            releaseAfterStall()
            log.fence.reopen()
        }
        joinIfDue(member)
        let slots = member.wake.take()
        serveEvents(of: member)
        for result in prepared.withLock({ exchange(&$0, with: []) }) {
            switch result {
            case .success(let assignment): adopt(assignment)
            case .failure(let failure): listener?.failed(failure)
            }
        }
        if listener != nil {
            for slot in slots { tellReadable(slot - GroupMember.firstSlot) }
            if now >= nextSweep {
                nextSweep = now + Self.sweepInterval
                for slot in queues.indices { tellReadable(slot) }
            }
            if now >= nextSeek {
                for slot in queues.indices where queues[slot]?.isSeeking == true { tellReadable(slot) }
                let isSeeking = queues.contains { $0?.isSeeking == true }
                nextSeek = isSeeking ? now + Self.seekInterval : .distantFuture
            }
        }
        advance(at: SystemTime.monotonic)
        return nextDeadline
    }

    /// Reports a queue with records to the listener. The sweep of all queues covers wake-ups that librdkafka lost.
    func tellReadable(_ slot: Int) {
        guard queues.indices.contains(slot), let queue = queues[slot], queue.peek() else { return }
        listener?.readable(queue.place.topic, queue.place.partition)
    }

    /// Does the work that is due by time: commits, the end of a revocation, the final stop.
    private func advance(at now: Instant) {
        if let due = commitDue, now >= due { commitPending(at: now) }
        if now >= nextRecommit { recommit(at: now) }
        switch phase {
        case .revoking(let held, let waiting, let deadline) where waiting.isEmpty || now >= deadline:
            if !waiting.isEmpty {
                log.notice(
                    "kafka.timing.revoke ended before \(waiting.count) partition\(waiting.count > 1 ? "s were" : " was") handed over: the new owner repeats the jobs under way. Raise it if jobs take longer."
                )
            }
            tellLost(waiting)
            finishRevocation(of: held, at: now)
        case .committing(let deadline) where commitsUnderWay == 0 || now >= deadline: releaseAll()
        case .stopping(false, let deadline, let done) where commitsUnderWay == 0 || now >= deadline:
            phase = .stopping(isLeaving: true, deadline: deadline, done: done)
            // The reply that a rebalance in progress waits for: without it librdkafka never leaves.
            member?.unassign()
            member?.leave()
        case .stopping(true, let deadline, let done):
            guard let member, member.hasLeft || now >= deadline else { break }
            end(member, done)
        default: break
        }
    }

    /// Time of the next turn. It comes often enough that an idle thread does not count as stuck.
    private var nextDeadline: Instant {
        let pulse = SystemTime.monotonic + log.configuration.timing.stall / 4
        let own: Instant =
            switch phase {
            case .revoking(_, _, let deadline), .committing(let deadline): deadline
            // No event marks the end of librdkafka's leaving.
            case .stopping: SystemTime.monotonic + .milliseconds(5)
            case .idle, .preparing, .owning: .distantFuture
            }
        return min(nextSweep, nextSeek, pulse, own, commitDue ?? .distantFuture, nextRecommit)
    }

    private func end(_ member: GroupMember, _ done: CheckedContinuation<Void, Never>) {
        thread.stopPolling()
        if !member.hasLeft { member.abandon() }
        pulse?.end()
        (self.member, pulse, phase) = (nil, nil, .idle)
        (queues, awaited) = ([], [])
        done.resume()
    }

    func queue(_ place: KafkaPlace) -> PartitionQueue? {
        let slot = slot(of: place)
        return queues.indices.contains(slot) ? queues[slot] : nil
    }

    func slot(of place: KafkaPlace) -> Int { place.topic.ordinal * log.partitionCount + Int(place.partition.number) }

    private nonisolated func onExecutor<Result: Sendable>(
        _ body: @Sendable (isolated KafkaLogConsumer) throws(LogFailure) -> Result
    ) throws(LogFailure) -> Result {
        try assumeIsolated { consumer -> Swift.Result<Result, LogFailure> in
            do throws(LogFailure) { return .success(try body(consumer)) } catch { return .failure(error) }
        }.get()
    }
}
