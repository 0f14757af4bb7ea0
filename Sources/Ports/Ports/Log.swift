package import Clocks
package import Records

/// Result of appending one record.
package enum AppendResult: Sendable, Hashable {
    /// Durable at this offset. If the broker no longer knows the record's own offset, the record is somewhere before
    /// this one.
    case acknowledged(Int64)
    /// Certainly not in the log.
    case refused(LogFailure)
    /// Perhaps in the log: the connection ended before the response came.
    case unknown(LogFailure)

    package var offset: Int64? { if case .acknowledged(let offset) = self { offset } else { nil } }

    package var failure: LogFailure? {
        switch self {
        case .acknowledged: nil
        case .refused(let failure), .unknown(let failure): failure
        }
    }
}

/// Log of records in topics and partitions, modelled on Kafka, without the ownership of partitions: appends, and reads
/// from outside.
package protocol Log: Sendable {
    /// Number of partitions, equal for every topic and fixed when the log is created.
    var partitionCount: Int { get }

    /// Minimum time for which folded topics keep tombstones; nil if it keeps them as long as a reader may need them.
    var tombstonesKept: Duration? { get }

    /// Appends a batch. Returns one result for each record, in the batch's order.
    func append(_ records: [NewRecord]) async -> [AppendResult]

    /// Appends for an owner in this process. Refused once the ownership `owner` has ended.
    func append(_ records: [NewRecord], as owner: Ownership) async -> [AppendResult]

    /// Offset of the first record that still exists, and offset of the next record to be appended.
    func bounds(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Range<Int64>

    /// Committed offset of the group, below which every record is finished; nil if nothing was committed.
    func committed(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Int64?

    /// Bounds and committed offsets of all these partitions, topic by topic, with few requests even for many
    /// partitions.
    func partitionOffsets(_ topics: [Topic], _ partitions: [PartitionID]) async throws(LogFailure) -> [PartitionOffsets]

    /// The same with a result for each topic-partition, so that an unreadable one does not hide the others.
    func offsets(of places: [LogPoint]) async -> [Result<PartitionOffsets, LogFailure>]

    /// Topics with more partitions than this installation uses.
    func grownTopics() async throws(LogFailure) -> [GrownTopic]

    /// Topic's name for command-line tools; nil if the log has no such tools.
    func toolTopic(_ topic: Topic) -> ToolTopic?

    /// Up to `limit` records from `offset` on, without owning the partition.
    func read(_ topic: Topic, _ partition: PartitionID, from offset: Int64, limit: Int) async throws(LogFailure)
        -> [Record]

    /// Newest record of each key that begins with `prefix`, without tombstones.
    func latest(_ topic: Topic, _ partition: PartitionID, keyPrefix prefix: [UInt8]) async throws(LogFailure)
        -> [Record]

    /// Whether `latest` reads an index, not a whole partition.
    var isIndexed: Bool { get }

    /// Whether the clock of another machine stamps the records.
    var hasOwnClock: Bool { get }

    /// Observation of the log at each topic-partition, each with a result of its own.
    func sights(at places: [LogPoint]) async -> [Result<LogSight, LogFailure>]

    /// Append time of the record at each offset, even if a transaction hides the record; nil if there is none.
    func hiddenTimes(at points: [LogPoint]) async -> [Result<WallTime?, LogFailure>]

    /// Current owner of a partition, for people; nil if there is none.
    func owner(of partition: PartitionID) async throws(LogFailure) -> String?

    func close() async
}

extension Log {
    package var tombstonesKept: Duration? { nil }
    package var isIndexed: Bool { true }
    package var hasOwnClock: Bool { true }
    package func toolTopic(_ topic: Topic) -> ToolTopic? { nil }

    package func offsets(of places: [LogPoint]) async -> [Result<PartitionOffsets, LogFailure>] {
        var found: [Result<PartitionOffsets, LogFailure>] = []
        for place in places {
            do throws(LogFailure) {
                found += try await partitionOffsets([place.topic], [place.partition]).map { .success($0) }
            } catch { found.append(.failure(error)) }
        }
        return found
    }

    /// Default for a log whose number of partitions is fixed.
    package func grownTopics() async throws(LogFailure) -> [GrownTopic] { [] }

    /// Default for a log without transactions.
    package func hiddenTimes(at points: [LogPoint]) async -> [Result<WallTime?, LogFailure>] {
        points.map { _ in .success(nil) }
    }

    /// Default for a log whose owner cannot lose a partition while its process is alive.
    package func append(_ records: [NewRecord], as owner: Ownership) async -> [AppendResult] { await append(records) }

    package func partitionOffsets(
        _ topics: [Topic], _ partitions: [PartitionID]
    ) async throws(LogFailure) -> [PartitionOffsets] {
        var found: [PartitionOffsets] = []
        for topic in topics {
            for partition in partitions {
                found.append(
                    PartitionOffsets(
                        topic: topic, partition: partition, bounds: try await bounds(topic, partition),
                        committed: try await committed(topic, partition)))
            }
        }
        return found
    }

    package func sights(at places: [LogPoint]) async -> [Result<LogSight, LogFailure>] {
        var sights: [Result<LogSight, LogFailure>] = []
        for place in places { sights.append(await sight(at: place)) }
        return sights
    }

    /// Reads the record before the bounds, so that records removed by retention in between are not mistaken for another
    /// log.
    private func sight(at place: LogPoint) async -> Result<LogSight, LogFailure> {
        do throws(LogFailure) {
            var timestamp: WallTime?
            if let offset = place.offset {
                let record = try await read(place.topic, place.partition, from: offset, limit: 1).first
                timestamp = record.flatMap { $0.offset == offset ? $0.timestamp : nil }
            }
            return .success(LogSight(bounds: try await bounds(place.topic, place.partition), timestamp: timestamp))
        } catch {
            return .failure(error)
        }
    }

    package var partitions: [PartitionID] { (0..<Int32(partitionCount)).map { PartitionID($0) } }
}

/// A topic-partition, and an offset to look at; nil for none.
package struct LogPoint: Sendable, Hashable {
    package let topic: Topic
    package let partition: PartitionID
    package let offset: Int64?

    package init(_ topic: Topic, _ partition: PartitionID, _ offset: Int64?) {
        (self.topic, self.partition, self.offset) = (topic, partition, offset)
    }
}

/// Observation of one topic-partition: enough to distinguish its log from another of the same name.
package struct LogSight: Sendable, Hashable {
    package let bounds: Range<Int64>
    /// Append time of the record at the requested offset; nil if there is none.
    package let timestamp: WallTime?

    package init(bounds: Range<Int64>, timestamp: WallTime?) { (self.bounds, self.timestamp) = (bounds, timestamp) }
}

/// Progress of one topic-partition.
package struct PartitionOffsets: Sendable, Hashable {
    package let topic: Topic
    package let partition: PartitionID
    /// Readable offsets. In Kafka they end at the last stable offset.
    package let bounds: Range<Int64>
    package let committed: Int64?
    /// Offsets after the readable ones that an open transaction hides: records of any producer, and transaction
    /// markers.
    package let hidden: Int64

    package init(topic: Topic, partition: PartitionID, bounds: Range<Int64>, committed: Int64?, hidden: Int64 = 0) {
        (self.topic, self.partition, self.bounds, self.committed) = (topic, partition, bounds, committed)
        self.hidden = hidden
    }

    /// Offset of the first record that may be unfinished.
    package var start: Int64 { max(bounds.lowerBound, committed ?? bounds.lowerBound) }
    /// Offsets from there to the end, including finished records and hidden offsets.
    package var records: Int64 { max(0, bounds.upperBound - start) + hidden }

    /// Records that are not known to be finished.
    package func unfinished(_ finished: FinishedRecords?) -> Int64 {
        guard let finished else { return records }
        let readable = bounds.upperBound - max(finished.next, bounds.lowerBound) - Int64(finished.ahead)
        return min(records, max(0, readable) + hidden)
    }
}

/// Owning side of a log: it gains and loses partitions, and drains records without blocking.
///
/// - Concurrency: `drain`, `commit`, `release` and every call of the listener happen on `executor`, the thread that
///   polls the log. So reading a queue and releasing its partition cannot race.
package protocol LogConsumer: Sendable {
    nonisolated var executor: any SerialExecutor { get }

    /// Starts to own partitions. The listener is informed of them on `executor`.
    func start(_ listener: any LogListener) async throws(LogFailure)

    /// Returns up to `limit` records that have arrived, in offset order; empty if there are none now.
    ///
    /// The caller applies back-pressure by not calling it. `variants` and `parked` are read from the offsets that `assigned`
    /// returned, other topics from the committed offset.
    func drain(_ topic: Topic, _ partition: PartitionID, limit: Int) throws(LogFailure) -> [Record]

    /// Offset that `drain` has reached: every record below it was returned or no longer exists.
    ///
    /// Compaction leaves gaps, at the end of the changelog too. A restore therefore ends when this offset reaches
    /// the changelog's end, even if no record has the offset before it. nil if unknown, or if the log has no gaps
    /// at its end.
    func position(_ topic: Topic, _ partition: PartitionID) -> Int64?

    /// Whether the log has no partition for this worker, because there are more workers than partitions.
    var ownsNothing: Bool { get }

    /// Whether the log has assigned partitions to this worker that it cannot take yet, in addition to the ones it has.
    var isAwaiting: Bool { get }

    /// Time without activity after which a worker may conclude that it has no work left.
    var quietTime: Duration { get }

    /// Continues reading at `offset`: drained records from there on are returned again, and `readable` is called. A log
    /// that cannot do this at once retries by itself, and returns no records before it has succeeded.
    func rewind(_ topic: Topic, _ partition: PartitionID, to offset: Int64) throws(LogFailure)

    /// Reports that every record below `offset` is finished. It becomes durable soon, together with other commits.
    func commit(_ topic: Topic, _ partition: PartitionID, below offset: Int64)

    /// Committed offset, as far as this consumer knows it; nil if there is none.
    func committed(_ topic: Topic, _ partition: PartitionID) -> Int64?

    /// Restarts in a replaced log of the topic: reading and the committed offset begin at `offset`, below their old
    /// values.
    func restart(_ topic: Topic, _ partition: PartitionID, at offset: Int64) throws(LogFailure)

    /// Confirms `revoked`: nothing of the partition is in progress any more, and its last commits were made.
    func release(_ partition: PartitionID)

    /// Releases all partitions, after making the last commits durable.
    func stop() async
}

extension LogConsumer {
    package func position(_ topic: Topic, _ partition: PartitionID) -> Int64? { nil }
    package var ownsNothing: Bool { false }
    package var isAwaiting: Bool { false }
    package var quietTime: Duration { .milliseconds(50) }
}

/// Receiver of a consumer's events, always on the consumer's executor.
package protocol LogListener: AnyObject, Sendable {
    /// The worker owns the partition, in an epoch above every earlier one. `folded` has the offsets of each topic that it
    /// applies to its index: jobs may run once `variants` is restored to its end. Returns the offset at which to start
    /// reading each, within its range.
    func assigned(
        _ partition: PartitionID, epoch: Int64, folded: ByFoldedTopic<Range<Int64>>
    ) -> ByFoldedTopic<Int64>
    /// Records may have arrived, so drain. It may be called when there are none.
    func readable(_ topic: Topic, _ partition: PartitionID)
    /// The partition goes to another owner at `deadline`: finish, commit, `release`.
    func revoked(_ partition: PartitionID, deadline: Instant)
    /// The partition already has another owner, so no write of this worker may become visible any more.
    func lost(_ partition: PartitionID)
    /// The log hands out no jobs for now; called again each second. nil: it hands out jobs again.
    func halted(_ failure: LogFailure?)
    /// The log can no longer be read or written; the worker ends.
    func failed(_ failure: LogFailure)
}
