import EmbeddedLog
import Ports
import Records
import Synchronization

/// An embedded log whose partitions can come and go as a group's do, and whose appends can be held up.
final class MovingLog: Log, LogConsumer {
    private let log: EmbeddedLog
    private let consumer: EmbeddedLogConsumer
    private let listener = Mutex<(any LogListener)?>(nil)
    private let rule: @Sendable ([NewRecord]) async -> LogFailure?
    private let refusal: @Sendable (NewRecord) -> LogFailure?
    private let begins: [Topic: Int64]
    private let unreadable = Mutex<Topic?>(nil)
    private let highest = Mutex<Int64>(0)
    private let watched = Mutex(false)
    /// Whether a test still watches the worker: until it has seen enough, the worker does not end for want of jobs.
    var isWatched: Bool {
        get { watched.withLock { $0 } }
        set { watched.withLock { $0 = newValue } }
    }
    var quietTime: Duration { isWatched ? .seconds(3600) : consumer.quietTime }
    /// The highest offset of all that were to be committed.
    var highestCommit: Int64 { highest.withLock { $0 } }

    /// `rule` is asked before each append: what it returns is the answer in place of an append; then `refusal` for each
    /// record. `begins`: retention has removed what was below.
    init(
        _ log: EmbeddedLog, before rule: @escaping @Sendable ([NewRecord]) async -> LogFailure? = { _ in nil },
        refusing refusal: @escaping @Sendable (NewRecord) -> LogFailure? = { _ in nil }, begins: [Topic: Int64] = [:]
    ) {
        (self.log, self.refusal, self.rule, self.begins) = (log, refusal, rule, begins)
        consumer = EmbeddedLogConsumer(log)
    }

    /// The worker ends as one that is killed does: nothing more is said.
    func kill() async { await Turn(self).do { $0?.failed(.closed) } }

    /// The partition is lost and comes back, in a new epoch and read again from what was committed.
    func moveAndReturn(_ partition: PartitionID, epoch: Int64) async throws {
        let folded = ByFoldedTopic(
            variants: try await log.bounds(.variants, partition), parked: try await log.bounds(.parked, partition))
        var committed: [Topic: Int64] = [:]
        for topic in Topic.consumed { committed[topic] = try await log.committed(topic, partition) ?? 0 }
        try await Turn(self).do { [committed, consumer] listener in
            guard let listener else { return }
            listener.lost(partition)
            let starts = listener.assigned(partition, epoch: epoch, folded: folded)
            for topic in Topic.folded { try consumer.rewind(topic, partition, to: starts[topic]) }
            for (topic, offset) in committed { try consumer.rewind(topic, partition, to: offset) }
        }
    }

    /// Reading the topic fails, and looking at its log, until it is nil again.
    func fail(_ topic: Topic?, _ partition: PartitionID) async {
        unreadable.withLock { $0 = topic }
        await Turn(self).do { if let topic { $0?.readable(topic, partition) } }
    }

    private func check(_ topic: Topic) throws(LogFailure) {
        if unreadable.withLock({ $0 == topic }) { throw .unavailable(reason: "the test says so") }
    }

    /// The partition goes to another worker, as one does that was away for too long.
    func lose(_ partition: PartitionID) async { await Turn(self).do { $0?.lost(partition) } }

    /// On the consumer's thread, where all that a listener hears is said.
    private actor Turn {
        private nonisolated let log: MovingLog
        nonisolated var unownedExecutor: UnownedSerialExecutor { log.executor.asUnownedSerialExecutor() }
        init(_ log: MovingLog) { self.log = log }
        func `do`(_ body: @Sendable ((any LogListener)?) throws -> Void) rethrows {
            try body(log.listener.withLock { $0 })
        }
    }

    var partitionCount: Int { log.partitionCount }

    func append(_ records: [NewRecord]) async -> [AppendResult] {
        if let failure = await rule(records) { return records.map { _ in .refused(failure) } }
        let refusals = records.map(refusal)
        var taken = await log.append(zip(records, refusals).filter { $1 == nil }.map(\.0)).makeIterator()
        return refusals.map { $0.map { .refused($0) } ?? taken.next() ?? .unknown(.closed) }
    }

    /// On the thread that the worker runs on.
    func onThread(_ body: @Sendable () -> Void) async { await Turn(self).do { _ in body() } }

    func bounds(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Range<Int64> {
        try check(topic)
        let bounds = try await log.bounds(topic, partition)
        return max(bounds.lowerBound, min(begins[topic] ?? 0, bounds.upperBound))..<bounds.upperBound
    }

    func committed(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Int64? {
        try await log.committed(topic, partition)
    }

    func read(
        _ topic: Topic, _ partition: PartitionID, from offset: Int64, limit: Int
    ) async throws(LogFailure) -> [Record] {
        try await log.read(topic, partition, from: offset, limit: limit)
    }

    func latest(
        _ topic: Topic, _ partition: PartitionID, keyPrefix prefix: [UInt8]
    ) async throws(LogFailure) -> [Record] {
        try await log.latest(topic, partition, keyPrefix: prefix)
    }

    func owner(of partition: PartitionID) async throws(LogFailure) -> String? { try await log.owner(of: partition) }
    func close() async { await log.close() }

    var executor: any SerialExecutor { consumer.executor }

    func start(_ listener: any LogListener) async throws(LogFailure) {
        self.listener.withLock { $0 = listener }
        try await consumer.start(listener)
    }

    func drain(_ topic: Topic, _ partition: PartitionID, limit: Int) throws(LogFailure) -> [Record] {
        try check(topic)
        return try consumer.drain(topic, partition, limit: limit)
    }

    func rewind(_ topic: Topic, _ partition: PartitionID, to offset: Int64) throws(LogFailure) {
        try consumer.rewind(topic, partition, to: offset)
    }

    func position(_ topic: Topic, _ partition: PartitionID) -> Int64? { consumer.position(topic, partition) }

    func commit(_ topic: Topic, _ partition: PartitionID, below offset: Int64) {
        highest.withLock { $0 = max($0, offset) }
        consumer.commit(topic, partition, below: offset)
    }

    func committed(_ topic: Topic, _ partition: PartitionID) -> Int64? { consumer.committed(topic, partition) }

    func restart(_ topic: Topic, _ partition: PartitionID, at offset: Int64) throws(LogFailure) {
        try consumer.restart(topic, partition, at: offset)
    }

    func release(_ partition: PartitionID) { consumer.release(partition) }
    func stop() async { await consumer.stop() }
}
