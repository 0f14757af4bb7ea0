/// The result of `mezzotint topics create`.
package struct TopicsMade: Sendable {
    /// Topics that were missing, as they were created.
    let topics: [TopicPlan]
    /// Whether there are fewer replicas than the default, because the cluster has too few brokers.
    let isFewer: Bool
    /// All remaining problems, a sentence each.
    package let problems: [String]

    /// Default replica count, if there are enough brokers.
    static let copies = 3

    /// Description of the created topics; nil if all topics existed.
    package var text: String? {
        guard let plan = topics.first else { return nil }
        let brokers = plan.replication == 1 ? "one broker" : "\(plan.replication) brokers"
        let fewer = isFewer ? " (the cluster has \(brokers); the default is \(Self.copies))" : ""
        return "Created \(Self.count(topics.count, "topic")): \(Self.count(plan.partitions, "partition")) each, "
            + "replication factor \(plan.replication)\(fewer)."
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
