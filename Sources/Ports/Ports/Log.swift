package import Clocks
package import Records

/// What became of one appended record.
package enum AppendResult: Sendable, Hashable {
    /// Durable, at this offset; before it, where a broker no longer knew which.
    case acknowledged(Int64)
    /// Certainly not in the log.
    case refused(LogFailure)
    /// May or may not be in the log: the connection went before the answer came.
    case unknown(LogFailure)

    package var offset: Int64? { if case .acknowledged(let offset) = self { offset } else { nil } }

    package var failure: LogFailure? {
        switch self {
        case .acknowledged: nil
        case .refused(let failure), .unknown(let failure): failure
        }
    }
}

/// Records in topics and partitions, shaped by Kafka: appending, and reading from outside without owning anything.
package protocol Log: Sendable {
    /// The same for every topic; fixed when the log is created.
    var partitionCount: Int { get }

    /// How long the changelog keeps tombstones at least; nil: for as long as somebody may need them.
    var tombstonesKept: Duration? { get }

    /// Appends a batch; returns when each record is acknowledged, refused or unknown, in the batch's order.
    func append(_ records: [NewRecord]) async -> [AppendResult]

    /// The same for an owner in this process: refused where `owner` is over.
    func append(_ records: [NewRecord], as owner: Ownership) async -> [AppendResult]

    /// The first offset still there, and the offset that the next record will get.
    func bounds(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Range<Int64>

    /// The group's committed offset: below it every record is finished. nil if nothing was committed.
    func committed(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Int64?

    /// Bounds and committed offset of each topic's partitions, topic by topic: few questions however many they are.
    func partitionOffsets(_ topics: [Topic], _ partitions: [PartitionID]) async throws(LogFailure) -> [PartitionOffsets]

    /// The same, with a result for each place: a place that cannot be read hides no other.
    func offsets(of places: [LogPoint]) async -> [Result<PartitionOffsets, LogFailure>]

    /// Topics that have more partitions than are used.
    func grownTopics() async throws(LogFailure) -> [GrownTopic]

    /// For people; nil for a log that has no such tools.
    func toolTopic(_ topic: Topic) -> ToolTopic?

    /// Up to `limit` records at `offset` and after, without owning the partition.
    func read(_ topic: Topic, _ partition: PartitionID, from offset: Int64, limit: Int) async throws(LogFailure)
        -> [Record]

    /// The newest record of each key that begins with `prefix`, tombstones left out.
    func latest(_ topic: Topic, _ partition: PartitionID, keyPrefix prefix: [UInt8]) async throws(LogFailure)
        -> [Record]

    /// Whether `latest` costs a look at an index, rather than a whole partition.
    var isIndexed: Bool { get }

    /// Whether records are stamped by the clock of another machine.
    var hasOwnClock: Bool { get }

    /// What the log shows at each of these places; each has a result of its own.
    func sights(at places: [LogPoint]) async -> [Result<LogSight, LogFailure>]

    /// When the record at each place's offset was appended, though a transaction hides it; nil where
    /// there is none.
    func hiddenTimes(at points: [LogPoint]) async -> [Result<WallTime?, LogFailure>]

    /// Who holds the partitions now, for people; nil if nobody.
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

    /// Of a log whose number of partitions is fixed.
    package func grownTopics() async throws(LogFailure) -> [GrownTopic] { [] }

    /// Of a log that has no transactions.
    package func hiddenTimes(at points: [LogPoint]) async -> [Result<WallTime?, LogFailure>] {
        points.map { _ in .success(nil) }
    }

    /// Of a log whose owner loses nothing while its process lives.
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

    /// The record before the bounds: what retention removes between the two is not taken for another log's.
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

/// A partition of a topic, and an offset to look at; nil for none.
package struct LogPoint: Sendable, Hashable {
    package let topic: Topic
    package let partition: PartitionID
    package let offset: Int64?

    package init(_ topic: Topic, _ partition: PartitionID, _ offset: Int64?) {
        (self.topic, self.partition, self.offset) = (topic, partition, offset)
    }
}

/// What a log shows of one partition of a topic: enough to tell it from another log of the same name.
package struct LogSight: Sendable, Hashable {
    package let bounds: Range<Int64>
    /// When the record at the offset asked for was appended; nil if there is none.
    package let timestamp: WallTime?

    package init(bounds: Range<Int64>, timestamp: WallTime?) { (self.bounds, self.timestamp) = (bounds, timestamp) }
}

/// How far one partition of a topic has come.
package struct PartitionOffsets: Sendable, Hashable {
    package let topic: Topic
    package let partition: PartitionID
    /// What can be read. In Kafka's words it ends at the last stable offset.
    package let bounds: Range<Int64>
    package let committed: Int64?
    /// Offsets behind that which an open transaction hides: records of any producer, and transaction markers.
    package let hidden: Int64

    package init(topic: Topic, partition: PartitionID, bounds: Range<Int64>, committed: Int64?, hidden: Int64 = 0) {
        (self.topic, self.partition, self.bounds, self.committed) = (topic, partition, bounds, committed)
        self.hidden = hidden
    }

    /// The first record that may be unfinished.
    package var start: Int64 { max(bounds.lowerBound, committed ?? bounds.lowerBound) }
    /// Offsets from there to the end, finished records among them, and hidden ones.
    package var records: Int64 { max(0, bounds.upperBound - start) + hidden }

    /// Records that are not known to be finished.
    package func unfinished(_ finished: FinishedRecords?) -> Int64 {
        guard let finished else { return records }
        let readable = bounds.upperBound - max(finished.next, bounds.lowerBound) - Int64(finished.ahead)
        return min(records, max(0, readable) + hidden)
    }
}

/// The owning side of a log: partitions come and go, records are drained without blocking.
///
/// - Concurrency: `drain`, `commit`, `release` and every call of the listener happen on `executor`, the thread that
///   polls the log, so that reading a queue and giving it up cannot race.
package protocol LogConsumer: Sendable {
    nonisolated var executor: any SerialExecutor { get }

    /// Begins to own partitions. The listener hears of them on `executor`.
    func start(_ listener: any LogListener) async throws(LogFailure)

    /// Up to `limit` records that have arrived, in offset order; empty when there are none now.
    /// Back-pressure is not calling this. For `variants` reading starts where `assigned` said, for the others at the
    /// committed offset.
    func drain(_ topic: Topic, _ partition: PartitionID, limit: Int) throws(LogFailure) -> [Record]

    /// The offset that `drain` has reached: what is below it was returned, or is no more. Compaction leaves gaps, at the
    /// end too, so that a restore ends where this is at the changelog's end, whatever the last record's offset was.
    /// nil: not known, or a log without gaps at its end.
    func position(_ topic: Topic, _ partition: PartitionID) -> Int64?

    /// Whether the log has said that there is nothing for this worker to own: there are more workers than partitions.
    var ownsNothing: Bool { get }

    /// Whether the log has given this worker partitions that it cannot take up yet, beside those that it has.
    var isAwaiting: Bool { get }

    /// How long nothing may have happened before a worker can believe that nothing is left for it to do.
    var quietTime: Duration { get }

    /// Reads from `offset` on: what was drained from there on comes again, and `readable` is said. A log that cannot go there
    /// at once tries again by itself, and hands nothing out before.
    func rewind(_ topic: Topic, _ partition: PartitionID, to offset: Int64) throws(LogFailure)

    /// Every record below `offset` is finished. Made durable soon, together with others.
    func commit(_ topic: Topic, _ partition: PartitionID, below offset: Int64)

    /// The committed offset, as far as it is known here; nil if there is none.
    func committed(_ topic: Topic, _ partition: PartitionID) -> Int64?

    /// The topic's log is another one now: reading and the committed offset begin again at `offset`, below where they were.
    func restart(_ topic: Topic, _ partition: PartitionID, at offset: Int64) throws(LogFailure)

    /// Answer to `revoked`: nothing of the partition runs any more, and its last commits were handed in.
    func release(_ partition: PartitionID)

    /// Gives everything up, last commits made durable.
    func stop() async
}

extension LogConsumer {
    package func position(_ topic: Topic, _ partition: PartitionID) -> Int64? { nil }
    package var ownsNothing: Bool { false }
    package var isAwaiting: Bool { false }
    package var quietTime: Duration { .milliseconds(50) }
}

/// Hears what the log tells its owner, always on the consumer's executor.
package protocol LogListener: AnyObject, Sendable {
    /// The partition is ours, in an epoch above every earlier one. `changelog` is what `variants` holds of it: jobs may run
    /// once it is restored to its end. Returns the offset at which to start reading, within its bounds.
    func assigned(_ partition: PartitionID, epoch: Int64, changelog: Range<Int64>) -> Int64
    /// Records may have come: drain. May be said without need.
    func readable(_ topic: Topic, _ partition: PartitionID)
    /// The partition goes to another owner at `deadline`: finish, commit, `release`.
    func revoked(_ partition: PartitionID, deadline: Instant)
    /// The partition already has another owner: no write may be seen any more.
    func lost(_ partition: PartitionID)
    /// The log can't be read or written any more; the worker ends.
    func failed(_ failure: LogFailure)
}
