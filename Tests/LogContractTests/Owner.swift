import ImageModel
import Ports

/// Stands on a consumer's executor, where a partition would.
actor Owner {
    private let consumer: any LogConsumer
    let listener: RecordingListener
    nonisolated let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ consumer: any LogConsumer, changelogStart: Int64? = nil) {
        (self.consumer, executor) = (consumer, consumer.executor)
        listener = RecordingListener(changelogStart: changelogStart)
    }

    func start() async throws { try await consumer.start(listener) }

    func drain(_ topic: Topic, _ partition: PartitionID, limit: Int = 1_000) throws -> [Record] {
        try consumer.drain(topic, partition, limit: limit)
    }

    /// Drains until `count` records came, however many wake-ups that takes.
    func drain(_ topic: Topic, _ partition: PartitionID, until count: Int) async throws -> [Record] {
        var records = try drain(topic, partition)
        while records.count < count {
            await listener.wait(for: .readable(topic, partition))
            records += try drain(topic, partition)
        }
        return records
    }

    func commit(_ topic: Topic, _ partition: PartitionID, _ watermark: Int64) {
        consumer.commit(topic, partition, watermark: watermark)
    }

    func stop() async { await consumer.stop() }
}
