internal import Clocks
internal import Glibc
package import KafkaSetup
package import Ports
internal import Posix
internal import Records

/// Creation and checks of a cluster's topics, for `mezzotint topics create` and `topics check`.
package enum KafkaTopics {
    /// Creates the missing topics with as many partitions as the existing ones; existing topics stay as they are.
    ///
    /// - Parameters:
    ///   - partitions: nil: as configured, if no topic exists yet.
    ///   - replication: nil: three replicas, or as many as there are brokers.
    package static func create(
        _ configuration: KafkaConfiguration, partitions: Int?, replication: Int? = nil
    ) async throws(LogFailure) -> TopicsMade {
        try await OwnThread.result("kafka topics") { () throws(LogFailure) in
            try createBlocking(configuration, partitions: partitions, replication: replication)
        }
    }

    /// All problems of the topics, a sentence each; empty if workers can run on them.
    /// - Failure: the cluster cannot be reached, or does not let this user ask.
    package static func check(_ configuration: KafkaConfiguration) async throws(LogFailure) -> [String] {
        try await OwnThread.result("kafka topics") { () throws(LogFailure) in
            let questions = try KafkaQuestions(configuration)
            return try problems(questions, configuration).map(\.text) + agingBacklogs(questions, configuration)
        }
    }

    /// Removes the topics with their records, and the group; missing topics are no problem.
    package static func delete(_ configuration: KafkaConfiguration) async throws(LogFailure) {
        try await OwnThread.result("kafka topics") { () throws(LogFailure) in
            let questions = try KafkaQuestions(configuration)
            let failures = try questions.delete(Topic.allCases.map(configuration.name))
            let refused = failures.sorted { $0.key < $1.key }.map { "\($0.key) could not be removed: \($0.value)." }
            if !refused.isEmpty { throw .topics(problems: refused, remedy: remedy("remove")) }
            try questions.deleteGroup()
        }
    }

    private static func remedy(_ verb: String) -> String {
        "Fix the errors that the brokers report, or ask the cluster's operator to \(verb) them or to give this user the right."
    }

    private static func createBlocking(
        _ configuration: KafkaConfiguration, partitions wanted: Int?, replication: Int?
    ) throws(LogFailure) -> TopicsMade {
        let questions = try KafkaQuestions(configuration)
        let cluster = try questions.cluster()
        let there = cluster.topics
        if let replication, replication > cluster.brokers {
            throw .topics(
                problems: [
                    "\(replication) copies of each record need as many brokers, and the cluster has \(cluster.brokers)."
                ],
                remedy: "Give --replication \(cluster.brokers).")
        }
        let counts = Topic.allCases.compactMap { there[configuration.name($0)]?.partitions }.filter { $0 > 0 }
        let present = there[configuration.name(.fingerprint)]?.partitions ?? counts.max()
        let plans = TopicPlan.all(
            configuration, partitions: present ?? wanted ?? configuration.partitions,
            replication: replication ?? min(TopicsMade.copies, max(1, cluster.brokers)))
        let missing = plans.filter { there[$0.name] == nil }
        let failures = missing.isEmpty ? [:] : try questions.create(missing)
        let refused = failures.sorted { $0.key < $1.key }.map { "\($0.key) could not be made: \($0.value)." }
        if !refused.isEmpty { throw .topics(problems: refused, remedy: remedy("make")) }
        // The controller has created them. Each broker learns of it a little later, and the client may ask any broker.
        let deadline = SystemTime.monotonic + configuration.timing.response
        var knowing = 0
        while knowing < 3 * cluster.brokers, SystemTime.monotonic < deadline {
            let known = try questions.topics()
            let isKnown = plans.allSatisfy { known[$0.name].map { $0.partitions > 0 } ?? false }
            knowing = isKnown ? knowing + 1 : 0
            if !isKnown { usleep(20_000) }
        }
        // Brokers announce a partition before its log exists: until then its leader responds "Not leader for
        // partition".
        _ = try questions.bounds(
            missing.flatMap { plan in (0..<Int32(plan.partitions)).map { KafkaPlace(plan.topic, PartitionID($0)) } })
        return TopicsMade(
            topics: missing, isFewer: replication == nil && cluster.brokers < TopicsMade.copies,
            problems: wrongCounts(there, plans, wanted) + tooFewCopies(there, plans, replication)
                + (try problems(questions, configuration).map(\.text)))
    }

    /// Existing topics whose partition count differs from the requested one.
    private static func wrongCounts(_ there: [String: TopicFacts], _ plans: [TopicPlan], _ wanted: Int?) -> [String] {
        guard let wanted else { return [] }
        return plans.compactMap { plan in
            guard let fact = there[plan.name], fact.partitions > 0, fact.partitions != wanted else { return nil }
            return
                "\(plan.name) has \(fact.partitions) partitions, not \(wanted): their number is fixed when a topic is made. Take another kafka.prefix for more."
        }
    }

    /// Existing topics with fewer replicas than requested.
    private static func tooFewCopies(_ there: [String: TopicFacts], _ plans: [TopicPlan], _ asked: Int?) -> [String] {
        guard let asked else { return [] }
        return plans.compactMap { plan in
            guard let fact = there[plan.name], fact.partitions > 0, fact.replicas < asked else { return nil }
            return
                "\(plan.name) has \(fact.replicas) of \(asked) replicas. Add replicas to an existing topic with kafka-reassign-partitions."
        }
    }

    static func isAnyMissing(_ facts: [String: TopicFacts], _ configuration: KafkaConfiguration) -> Bool {
        Topic.allCases.contains { facts[configuration.name($0)]?.partitions ?? 0 == 0 }
    }
}
