internal import KafkaSetup
internal import Ports
internal import Records

/// A partition of a topic.
struct KafkaPlace: Hashable, Sendable {
    let topic: Topic
    let partition: PartitionID

    init(_ topic: Topic, _ partition: PartitionID) { (self.topic, self.partition) = (topic, partition) }

    func check(within count: Int) throws(LogFailure) {
        guard partition.number >= 0, partition.number < count else { throw absence(of: count) }
    }

    func absence(of count: Int) -> LogFailure {
        .unavailable(reason: "\(topic.rawValue) has no partition \(partition), only 0 to \(count - 1)")
    }
}

extension Topic {
    /// Topics that an owner reads: it completes the records of some, and applies the others to its index. They have the
    /// lowest ordinals, because queues are stored by ordinal.
    static let owned: [Topic] = Topic.consumed + Topic.folded
    static let fingerprint = Topic.jobsFast
    /// Whether half a second more does not matter: only earlier versions wrote to retry topics.
    var isPatient: Bool { isRetry }
}

extension KafkaConfiguration {
    func name(_ topic: Topic) -> String { prefix + topic.rawValue }
}
