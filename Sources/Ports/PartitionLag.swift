package import ImageModel

/// What is unfinished in one partition of one topic.
package struct PartitionLag: Sendable {
    package let topic: Topic
    package let partition: PartitionID
    /// From the watermark to the end.
    package let records: Int64
    /// The age of the oldest unfinished record; 0 if there is none.
    package let seconds: Double
}

extension Log {
    /// The lag of these topics' partitions, topic by topic, read from the log alone.
    package func lags(
        _ topics: [Topic], _ partitions: [PartitionID], at now: Int64
    ) async throws(LogFailure) -> [PartitionLag] {
        var lags: [PartitionLag] = []
        for standing in try await standings(topics, partitions) {
            let (topic, partition) = (standing.topic, standing.partition)
            // What is left may be gaps only: compaction, or records that a retention took meanwhile.
            let oldest =
                standing.unfinished > 0
                ? try await read(topic, partition, from: standing.start, limit: 1).first : nil
            lags.append(
                PartitionLag(
                    topic: topic, partition: partition, records: oldest == nil ? 0 : standing.unfinished,
                    seconds: oldest.map { Double(max(0, now - $0.timestamp)) / 1000 } ?? 0))
        }
        return lags
    }
}
