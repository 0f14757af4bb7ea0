/// What `mezzotint topics create` came to.
package struct TopicsMade: Sendable {
    /// Those that were missing, as they were made.
    let topics: [TopicPlan]
    /// Fewer copies than are wanted where nobody says how many: the cluster has no more brokers.
    let isFewer: Bool
    /// Every problem that is left, a sentence each.
    package let problems: [String]

    /// Of every record, where there are brokers enough.
    static let copies = 3

    /// What was made; nil if all topics were there.
    package var text: String? {
        guard let plan = topics.first else { return nil }
        let brokers = plan.replication == 1 ? "one broker" : "\(plan.replication) brokers"
        let fewer = isFewer ? " (the cluster has \(brokers); the default is \(Self.copies))" : ""
        return "Created \(Self.count(topics.count, "topic")): \(Self.count(plan.partitions, "partition")) each, "
            + "replication factor \(plan.replication)\(fewer)."
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
