package import Clocks
package import Records

/// The log as somebody sees it who owns nothing, joins no group and writes nothing.
///
/// - Failure: each place has a result of its own, so that one that cannot be read hides no other. No question is asked
///   again by itself: whoever looks looks again.
package protocol LogView: Sendable {
    var partitionCount: Int { get }

    /// Bounds and, of topics whose records are finished, the group's committed offset.
    func offsets(of places: [LogPoint]) async -> [Result<PartitionOffsets, LogFailure>]

    /// Who shares the partitions now.
    func members() async throws(LogFailure) -> [LogMember]

    /// Topics that have more partitions than are used.
    func grownTopics() async throws(LogFailure) -> [GrownTopic]

    /// When the record at each place's offset was appended, though a transaction hides it; nil where
    /// there is none.
    func hiddenTimes(at points: [LogPoint]) async -> [Result<WallTime?, LogFailure>]

    /// When the first record at or after each place's offset was appended; nil where there is none.
    func appendTimes(at points: [LogPoint]) async -> [Result<WallTime?, LogFailure>]

    /// Up to `limit` records at `offset` and after.
    func read(_ topic: Topic, _ partition: PartitionID, from offset: Int64, limit: Int) async throws(LogFailure)
        -> [Record]

    /// The newest record of each key that begins with `prefix`, tombstones left out.
    func latest(_ topic: Topic, _ partition: PartitionID, keyPrefix prefix: [UInt8]) async throws(LogFailure)
        -> [Record]

    /// For how long topics keep their records; without topics that keep records until they are finished.
    func retention() async throws(LogFailure) -> [Topic: Duration]

    /// Whether `latest` costs a look at an index, rather than a whole partition.
    var isIndexed: Bool { get }

    /// Whether this is still the log that a new view would open.
    var isInPlace: Bool { get }

    func close() async
}

extension LogView {
    package func retention() async throws(LogFailure) -> [Topic: Duration] { [:] }
}
