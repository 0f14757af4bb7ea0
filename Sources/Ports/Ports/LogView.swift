package import Clocks
package import Records

/// View of the log for an observer, which owns no partition, joins no group and writes nothing.
///
/// - Failure: each topic-partition has a result of its own, so that an unreadable one does not hide the others.
///   No request is retried automatically; the observer asks again.
package protocol LogView: Sendable {
    var partitionCount: Int { get }

    /// Bounds of each topic-partition, and the group's committed offset for topics whose records are finished.
    func offsets(of places: [LogPoint]) async -> [Result<PartitionOffsets, LogFailure>]

    /// Members that share the partitions now.
    func members() async throws(LogFailure) -> [LogMember]

    /// Topics with more partitions than this installation uses.
    func grownTopics() async throws(LogFailure) -> [GrownTopic]

    /// Append time of the record at each offset, even if a transaction hides the record; nil if there is none.
    func hiddenTimes(at points: [LogPoint]) async -> [Result<WallTime?, LogFailure>]

    /// Append time of the first record at or after each offset; nil if there is none.
    func appendTimes(at points: [LogPoint]) async -> [Result<WallTime?, LogFailure>]

    /// Up to `limit` records from `offset` on.
    func read(_ topic: Topic, _ partition: PartitionID, from offset: Int64, limit: Int) async throws(LogFailure)
        -> [Record]

    /// Newest record of each key that begins with `prefix`, without tombstones.
    func latest(_ topic: Topic, _ partition: PartitionID, keyPrefix prefix: [UInt8]) async throws(LogFailure)
        -> [Record]

    /// Retention time of topics, without topics that keep records until they are finished.
    func retention() async throws(LogFailure) -> [Topic: Duration]

    /// Whether `latest` reads an index, not a whole partition.
    var isIndexed: Bool { get }

    /// Whether a new view would open the same log.
    var isInPlace: Bool { get }

    func close() async
}

extension LogView {
    package func retention() async throws(LogFailure) -> [Topic: Duration] { [:] }
}
