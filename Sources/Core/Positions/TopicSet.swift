package import Records

/// A set of topics as bits, because a `Set` hashes at each access.
package struct TopicSet: Sendable {
    private var bits: UInt32 = 0

    package init() {}

    package var isEmpty: Bool { bits == 0 }
    package func contains(_ topic: Topic) -> Bool { bits >> topic.ordinal & 1 == 1 }
    package func allSatisfy(_ holds: (Topic) -> Bool) -> Bool {
        Topic.allCases.allSatisfy { !contains($0) || holds($0) }
    }
    package mutating func insert(_ topic: Topic) { bits |= 1 << topic.ordinal }
    package mutating func remove(_ topic: Topic) { bits &= ~(1 << topic.ordinal) }
}
