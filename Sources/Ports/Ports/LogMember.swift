package import Records

/// A member of the group that shares the partitions, as the log's coordinator names it.
package struct LogMember: Sendable, Hashable {
    /// Unique among all members that there ever were.
    package let id: String
    /// The name that it gave itself.
    package let client: String
    /// The address that it connects from; empty for the owner of an embedded log.
    package let host: String
    package let partitions: [PartitionID]
    /// How many partitions of each topic it uses; nil: it does not say.
    package let partitionsUsed: Int?

    package init(id: String, client: String, host: String, partitions: [PartitionID], partitionsUsed: Int? = nil) {
        (self.id, self.client, self.host, self.partitions) = (id, client, host, partitions)
        self.partitionsUsed = partitionsUsed
    }

    /// `client@host`.
    package var name: String { host.isEmpty ? client : "\(client)@\(host)" }
}

extension [LogMember] {
    /// Who holds which partition, for people.
    package var owners: [PartitionID: String] {
        reduce(into: [:]) { owners, member in for partition in member.partitions { owners[partition] = member.name } }
    }

    /// The largest number of partitions that a member says it uses, of `count` that each topic has.
    package func partitionsUsed(of count: Int) -> Int? { compactMap(\.partitionsUsed).filter { $0 <= count }.max() }
}

/// A topic that has more partitions than workers and publishers of this installation use.
package struct GrownTopic: Sendable, Hashable {
    package let topic: Topic
    package let partitions: Int
    /// The partitions below this number are used.
    package let used: Int
    /// Records in the partitions that nobody reads; nil: not known.
    package let unread: Int64?

    package init(_ topic: Topic, partitions: Int, used: Int, unread: Int64?) {
        (self.topic, self.partitions, self.used, self.unread) = (topic, partitions, used, unread)
    }
}
