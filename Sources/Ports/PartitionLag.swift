package import Records

/// What is unfinished in one partition of one topic.
package struct PartitionLag: Sendable {
    package let topic: Topic
    package let partition: PartitionID
    /// The committed offset.
    package let start: Int64
    /// From the committed offset to the end.
    package let records: Int64
    /// When the oldest unfinished record was appended, milliseconds since 1970; nil if there is none.
    package let oldest: Int64?

    /// The age of the oldest unfinished record; 0 if there is none.
    package func seconds(at now: Int64) -> Double { oldest.map { Double(max(0, now - $0)) / 1000 } ?? 0 }
}

extension Log {
    /// The lag of these topics' partitions, topic by topic, read from the log alone; of fewer where the task is cancelled.
    ///
    /// - Parameter known: when the record at a committed offset was appended, if the caller knows: to read one costs a whole fetch.
    package func lags(
        _ topics: [Topic], _ partitions: [PartitionID], known: (PartitionOffsets) -> Int64? = { _ in nil }
    ) async throws(LogFailure) -> [PartitionLag] {
        var lags: [PartitionLag] = []
        for offsets in try await partitionOffsets(topics, partitions) {
            if Task.isCancelled { break }
            let (topic, partition) = (offsets.topic, offsets.partition)
            var oldest: Int64?
            if offsets.unfinished > 0 {
                oldest = known(offsets)
                // What is left may be gaps only: compaction, or records that a retention took meanwhile.
                if oldest == nil {
                    oldest = try await read(topic, partition, from: offsets.start, limit: 1).first?.timestamp
                }
            }
            lags.append(
                PartitionLag(
                    topic: topic, partition: partition, start: offsets.start,
                    records: oldest == nil ? 0 : offsets.unfinished, oldest: oldest))
        }
        return lags
    }
}
