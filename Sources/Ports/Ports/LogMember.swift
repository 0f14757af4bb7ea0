package import Records

/// Member of the group that shares the partitions, as the log's coordinator reports it.
package struct LogMember: Sendable, Hashable {
    /// Id, unique among all present and past members.
    package let id: String
    /// Name that the member gave itself.
    package let client: String
    /// Address that it connects from; empty for the owner of an embedded log.
    package let host: String
    package let partitions: [PartitionID]
    /// Number of partitions of each topic that it uses; nil if it does not report it.
    package let partitionsUsed: Int?

    package init(id: String, client: String, host: String, partitions: [PartitionID], partitionsUsed: Int? = nil) {
        (self.id, self.client, self.host, self.partitions) = (id, client, host, partitions)
        self.partitionsUsed = partitionsUsed
    }

    /// Name with address: `client@host`.
    package var name: String { host.isEmpty ? client : "\(client)@\(host)" }
}

extension [LogMember] {
    /// Owner of each partition, for people.
    package var owners: [PartitionID: String] {
        reduce(into: [:]) { owners, member in for partition in member.partitions { owners[partition] = member.name } }
    }

    /// Largest number of partitions that a member reports to use, of the `count` partitions of each topic.
    package func partitionsUsed(of count: Int) -> Int? { compactMap(\.partitionsUsed).filter { $0 <= count }.max() }
}

/// A topic with more partitions than the workers and publishers of this installation use.
package struct GrownTopic: Sendable, Hashable {
    package let topic: Topic
    package let partitions: Int
    /// Number of used partitions, which have the lowest numbers.
    package let used: Int
    /// Records in the partitions that no worker reads; nil if unknown.
    package let unread: Int64?

    package init(_ topic: Topic, partitions: Int, used: Int, unread: Int64?) {
        (self.topic, self.partitions, self.used, self.unread) = (topic, partitions, used, unread)
    }
}
