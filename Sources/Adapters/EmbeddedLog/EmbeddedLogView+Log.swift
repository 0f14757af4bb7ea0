package import Clocks
package import Ports
package import Records

/// The same for commands that only look, which know logs by this port.
extension EmbeddedLogView: Log {
    package nonisolated var hasOwnClock: Bool { false }

    package func bounds(_ topic: Topic, _ partition: PartitionID) throws(LogFailure) -> Range<Int64> {
        try offsets(of: [LogPoint(topic, partition, nil)])[0].get().bounds
    }

    package func committed(_ topic: Topic, _ partition: PartitionID) throws(LogFailure) -> Int64? {
        try offsets(of: [LogPoint(topic, partition, nil)])[0].get().committed
    }

    package func owner(of partition: PartitionID) throws(LogFailure) -> String? { members().owners[partition] }

    /// The number of its partitions is fixed.
    package func grownTopics() -> [GrownTopic] { [] }

    /// It has no transactions.
    package func hiddenTimes(at points: [LogPoint]) -> [Result<WallTime?, LogFailure>] {
        points.map { _ in .success(nil) }
    }

    package func append(_ records: [NewRecord]) -> [AppendResult] {
        records.map { _ in .refused(.unavailable(reason: "it was opened for reading alone")) }
    }
}
