package import Clocks
package import Records

/// Unfinished records of one topic-partition.
package struct PartitionLag: Sendable {
    package let topic: Topic
    package let partition: PartitionID
    /// Committed offset.
    package let start: Int64
    /// Records from the committed offset to the end, without records that are known to be finished.
    package let records: Int64
    /// Number of these records that an open transaction hides, from `hiddenFrom` on.
    package let hidden: Int64
    package let hiddenFrom: Int64
    /// Append time of the oldest unfinished record; nil if there is none.
    package let oldest: WallTime?

    /// Lag of parked jobs, as the partition's owner counts them. Offsets show nothing about them.
    package init(parked: ProgressRow.Parked, of partition: PartitionID) {
        (topic, self.partition, start, hidden, hiddenFrom) = (.parked, partition, 0, 0, 0)
        (records, oldest) = (parked.jobs, parked.oldest)
    }

    /// Age of the oldest unfinished record; 0 if there is none.
    package func seconds(at now: WallTime) -> Double { oldest.map { max(.zero, now - $0).seconds } ?? 0 }
}

/// Knowledge about a topic-partition in addition to its offsets.
package struct KnownRecords: Sendable {
    package var finished: FinishedRecords?
    /// Append time of the record at the committed offset, if known: reading one record costs a whole fetch.
    package var oldest: WallTime?

    package init(finished: FinishedRecords? = nil, oldest: WallTime? = nil) {
        (self.finished, self.oldest) = (finished, oldest)
    }
}

extension PartitionLag {
    fileprivate init(
        _ offsets: PartitionOffsets, records: Int64, oldest: WallTime?
    ) {
        (topic, partition, start) = (offsets.topic, offsets.partition, offsets.start)
        (hidden, hiddenFrom) = (offsets.hidden, offsets.bounds.upperBound)
        (self.records, self.oldest) = (records, oldest)
    }
}

extension Log {
    /// Lag of these topic-partitions, in their order; of fewer if the task is cancelled.
    package func lags(
        _ places: [PartitionOffsets], known: (PartitionOffsets) -> KnownRecords = { _ in KnownRecords() }
    ) async throws(LogFailure) -> [PartitionLag] {
        var lags: [PartitionLag] = []
        for offsets in places {
            if Task.isCancelled { break }
            let (topic, partition, known) = (offsets.topic, offsets.partition, known(offsets))
            let unfinished = offsets.unfinished(known.finished)
            var oldest: WallTime?
            if unfinished > 0 {
                oldest = known.oldest
                // The rest may be gaps: compacted records, or records that retention has just removed.
                if oldest == nil {
                    // Each attempt appends a retry again, so an older job may come after a younger one.
                    let first = try await read(
                        topic, partition, from: offsets.start, limit: topic.isRetry ? Self.retriesRead : 1)
                    oldest = first.lazy.map { (try? RetryNote($0).firstSeen) ?? $0.timestamp }.min()
                }
            }
            let records = oldest == nil ? offsets.hidden : unfinished
            if oldest == nil, offsets.hidden > 0 {
                let first = LogPoint(topic, partition, offsets.bounds.upperBound)
                oldest = try await hiddenTimes(at: [first]).first?.get()
            }
            lags.append(PartitionLag(offsets, records: records, oldest: oldest))
        }
        return lags
    }

    /// The size of a sample of lagwatch.
    private static var retriesRead: Int { 500 }

    /// Newest progress row that is found quickly: by an index, or among the last `records` of the changelog.
    package func newestProgress(
        of partition: PartitionID, among records: Int64 = 1_000
    ) async throws(LogFailure) -> ProgressRow? {
        let key = RecordKey.progress(partition).bytes
        let rows: [Record]
        if isIndexed {
            rows = try await latest(.variants, partition, keyPrefix: key)
        } else {
            let bounds = try await bounds(.variants, partition)
            let start = max(bounds.lowerBound, bounds.upperBound - records)
            rows = try await read(.variants, partition, from: start, limit: Int(records))
        }
        guard let newest = rows.last(where: { $0.key == key && $0.value != nil }),
            case .progress(let row)? = try? ChangelogEntry(newest)
        else { return nil }
        return row
    }
}
