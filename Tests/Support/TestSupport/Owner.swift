package import Ports
package import Records

/// Stands on a consumer's executor, where a partition would.
package actor Owner {
    private nonisolated let consumer: any LogConsumer
    package nonisolated let listener: RecordingListener
    private nonisolated let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package init(_ consumer: any LogConsumer, foldedStart: Int64? = nil) {
        (self.consumer, executor) = (consumer, consumer.executor)
        listener = RecordingListener(foldedStart: foldedStart)
    }

    package func start() async throws { try await consumer.start(listener) }

    package func drain(_ topic: Topic, _ partition: PartitionID, limit: Int = 1_000) throws -> [Record] {
        try consumer.drain(topic, partition, limit: limit)
    }

    /// Drains until `count` records came, however many wake-ups that takes.
    package func drain(_ topic: Topic, _ partition: PartitionID, until count: Int) async throws -> [Record] {
        var heard = listener.count
        var records = try drain(topic, partition)
        while records.count < count {
            heard = await listener.wait(for: .readable(topic, partition), after: heard)
            records += try drain(topic, partition)
        }
        return records
    }

    package func position(_ topic: Topic, _ partition: PartitionID) -> Int64? { consumer.position(topic, partition) }

    package func rewind(_ topic: Topic, _ partition: PartitionID, to offset: Int64) throws {
        try consumer.rewind(topic, partition, to: offset)
    }

    package func commit(_ topic: Topic, _ partition: PartitionID, _ committed: Int64) {
        consumer.commit(topic, partition, below: committed)
    }

    package func committed(_ topic: Topic, _ partition: PartitionID) -> Int64? { consumer.committed(topic, partition) }

    package func restart(_ topic: Topic, _ partition: PartitionID, at offset: Int64) throws {
        try consumer.restart(topic, partition, at: offset)
    }

    package func release(_ partition: PartitionID) { consumer.release(partition) }

    package func stop() async { await consumer.stop() }
}
