internal import Ports
internal import Records

/// A partition of a topic, and the table that is named after it (`LogLayout`).
///
/// In a table of its own every append is at a B-tree's right edge, and what is finished leaves at its left.
struct TablePlace: Hashable, Sendable {
    let topic: Topic
    let partition: PartitionID

    /// As SQL names it.
    var table: String { "\"\(topic.rawValue).\(partition.number)\"" }

    func isWithin(_ count: Int) -> Bool { partition.number >= 0 && partition.number < count }

    func absence(of count: Int) -> LogFailure {
        .unavailable(reason: "\(topic.rawValue) has no partition \(partition), only 0 to \(count - 1)")
    }

    static func all(_ topics: some Sequence<Topic>, of count: Int) -> [TablePlace] {
        topics.flatMap { topic in (0..<Int32(count)).map { TablePlace(topic: topic, partition: PartitionID($0)) } }
    }
}

extension Topic {
    /// Looked up by key, and so given an index; the others are scanned.
    var hasKeyIndex: Bool { isCompacted || self == .dead }
    /// What comes from outside the worker.
    static let published: Set<Topic> = Set(Topic.lanes + [.control])
    /// Read by the owner as they come.
    static let drained: [Topic] = Topic.consumed + Topic.folded
}
