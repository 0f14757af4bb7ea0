internal import Clocks
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records

/// A mismatch between the topics and the plan.
struct TopicProblem: Sendable, Hashable {
    let text: String
    let effect: Effect
    /// Problems with one subject are logged once, as long as their text stays the same.
    let subject: String

    enum Effect: Sendable, Hashable {
        /// An operator should know of it.
        case notice
        /// Jobs get lost, or cannot be appended: no worker starts.
        case refusesStart
        /// Records are removed before their jobs are done: a running worker ends, too.
        case endsWorker
    }

    init(_ text: String, _ effect: Effect = .notice, subject: String? = nil) {
        (self.text, self.effect, self.subject) = (text, effect, subject ?? text)
    }
}

extension KafkaTopics {
    /// All mismatches of the topics that can be found without reading a partition.
    ///
    /// - Parameter used: partitions of each topic that the asking worker uses; nil: as many as the running workers use.
    static func problems(
        _ questions: KafkaQuestions, _ configuration: KafkaConfiguration, used: Int? = nil
    ) throws(LogFailure) -> [TopicProblem] {
        let facts = try questions.topics()
        let missing = missing(facts, configuration)
        var problems = missing.map { TopicProblem($0) }
        if !missing.isEmpty {
            let counts = Topic.allCases.compactMap { topic in
                facts[configuration.name(topic)].flatMap { $0.partitions > 0 ? (topic, $0.partitions) : nil }
            }
            problems += numbers(TopicShape(Dictionary(uniqueKeysWithValues: counts), owned: nil), questions)
        } else {
            do throws(LogFailure) {
                var shape = used == nil ? try questions.shapeInUse() : try questions.shape()
                if let used {
                    let members = try? questions.members(within: KafkaQuestions.tryLimit)
                    let others = max(shape.owned ?? 0, members?.partitionsUsed(of: shape.used) ?? 0)
                    if others > used { problems.append(mixed(others, used)) }
                    shape.use(used)
                }
                problems += numbers(shape, questions)
            } catch {
                guard case .topics(let found, let remedy) = error else { throw error }
                problems.append(TopicProblem((found + [remedy]).joined(separator: " ")))
            }
        }
        let names = Topic.allCases.map(configuration.name)
        let present = names.filter { facts[$0]?.partitions ?? 0 > 0 }
        problems += present.compactMap { name in
            guard let away = facts[name]?.leaderless, !away.isEmpty else { return nil }
            let list = away.map { "\($0)" }.joined(separator: ", ")
            return TopicProblem(
                "\(name) has no leader for partition\(away.count > 1 ? "s" : "") \(list): start the brokers that hold a replica."
            )
        }
        return problems + (try settingProblems(questions, facts))
    }

    /// Mismatches of the existing topics' settings.
    static func settingProblems(
        _ questions: KafkaQuestions, _ facts: [String: TopicFacts]
    ) throws(LogFailure) -> [TopicProblem] {
        let configuration = questions.configuration
        let present = Topic.allCases.filter { facts[configuration.name($0)]?.partitions ?? 0 > 0 }
        if present.isEmpty { return [] }
        let settings = try questions.settings(of: present.map(configuration.name))
        return present.flatMap { topic -> [TopicProblem] in
            let name = configuration.name(topic)
            guard let fact = facts[name] else { return [] }
            return settingProblems(topic, fact, settings[name] ?? [:], configuration)
        }
    }

    /// One sentence that names every missing topic: a log with missing topics cannot be opened.
    static func missing(_ facts: [String: TopicFacts], _ configuration: KafkaConfiguration) -> [String] {
        let missing = Topic.allCases.map(configuration.name).filter { facts[$0]?.partitions ?? 0 == 0 }
        guard !missing.isEmpty else { return [] }
        let list = missing.map { name in name + (facts[name]?.error.map { " (\($0))" } ?? "") }.joined(separator: ", ")
        let (subject, object) = missing.count == 1 ? ("1 topic is", "it") : ("\(missing.count) topics are", "them")
        return [
            "\(subject) missing. Run mezzotint topics create, or ask your Kafka administrator to create \(object): \(list)."
        ]
    }

    /// Two workers that use different numbers would each work on jobs of the same source. So the worker with the
    /// smaller number ends, and starts again with the larger one.
    private static func mixed(_ others: Int, _ used: Int) -> TopicProblem {
        TopicProblem(
            "Other workers use \(others) partitions of each topic, and this worker uses \(used). Start this worker again.",
            .endsWorker)
    }

    /// Topics that have more partitions than workers use.
    private static func numbers(_ shape: TopicShape, _ questions: KafkaQuestions) -> [TopicProblem] {
        let grown = questions.grownTopics(shape)
        guard !grown.isEmpty else { return [] }
        let counts = grown.map { "\($0.topic.rawValue) \($0.partitions)" }.joined(separator: " ")
        return [TopicProblem(text(of: grown, questions.configuration), subject: counts)]
    }

    static func text(of grown: [GrownTopic], _ configuration: KafkaConfiguration) -> String {
        let list = grown.map { topic in
            let unread = topic.unread.map { $0 == 1 ? ", 1 record unread" : ", \($0) records unread" } ?? ""
            return "\(configuration.name(topic.topic)) (\(topic.partitions)\(unread))"
        }.joined(separator: ", ")
        let most = grown.map(\.partitions).max() ?? 0
        let counts = Dictionary(uniqueKeysWithValues: grown.map { ($0.topic, $0.partitions) })
        let lacking = Topic.allCases.filter { counts[$0] ?? 0 < most }
        let alter = configuration.command("--alter", lacking, partitions: most)
        let step = lacking.isEmpty ? "" : ", give every topic the same number (\(alter)),"
        return
            "Topics have more than the \(grown.first?.used ?? 0) partitions that workers and publishers use: \(list). "
            + "Nobody reads the others. To use them, stop all workers\(step) and start the workers."
    }

    private static func settingProblems(
        _ topic: Topic, _ fact: TopicFacts, _ settings: [String: String], _ configuration: KafkaConfiguration
    ) -> [TopicProblem] {
        let name = configuration.name(topic)
        let plan = TopicPlan.all(configuration, partitions: fact.partitions, replication: fact.replicas)
            .first { $0.topic == topic }
        let needed = (plan?.settings ?? []).filter(\.isRequired).compactMap { needed -> TopicProblem? in
            let value = settings[needed.name]
            if needed.name == TopicPlan.inSync, let least = value.flatMap({ Int($0) }), least > fact.replicas {
                let copies = fact.replicas == 1 ? "1 copy" : "\(fact.replicas) copies"
                return TopicProblem(
                    "\(name) has \(needed.name)=\(least), and \(copies) of each record: no append is acknowledged. "
                        + command(configuration, name, "\(needed.name)=\(needed.value)"), .refusesStart)
            }
            if value == needed.value { return nil }
            // For limits and ages, a higher value fits, too.
            if let value = value.flatMap({ Int64($0) }), let least = Int64(needed.value), value >= least { return nil }
            let losesJobs = (topic.holdsJobs || topic == .parked) && needed.name == "cleanup.policy"
            let why =
                !losesJobs
                ? "" : topic == .parked ? ": retention removes jobs that wait" : ": compaction removes jobs that nobody has done"
            return TopicProblem(
                "\(name) has \(needed.name)=\(value ?? "nothing"), and needs \(needed.value)\(why). "
                    + command(configuration, name, "\(needed.name)=\(needed.value)"),
                losesJobs && value != nil ? .endsWorker : .notice)
        }
        return needed + (topic.holdsJobs ? retentionProblems(name, settings, configuration) : [])
    }

    private static func retentionProblems(
        _ name: String, _ settings: [String: String], _ configuration: KafkaConfiguration
    ) -> [TopicProblem] {
        var problems: [TopicProblem] = []
        let least = TopicPlan.leastRetention.milliseconds
        if let kept = settings["retention.ms"].flatMap({ Int64($0) }), (0..<least).contains(kept) {
            problems.append(
                TopicProblem(
                    "\(name) has retention.ms=\(kept), and needs \(least) or more: jobs that wait longer are removed. "
                        + command(configuration, name, "retention.ms=\(TopicPlan.retention.milliseconds)"),
                    .refusesStart))
        }
        if let bytes = settings["retention.bytes"].flatMap({ Int64($0) }), bytes >= 0 {
            problems.append(
                TopicProblem(
                    "\(name) has retention.bytes=\(bytes), and needs -1: a backlog that is larger loses jobs. "
                        + command(configuration, name, "retention.bytes=-1"), .refusesStart))
        }
        return problems
    }

    static func command(_ configuration: KafkaConfiguration, _ name: String, _ setting: String) -> String {
        "Set it with kafka-configs.sh --bootstrap-server \(configuration.bootstrap) --alter --entity-type topics --entity-name \(name) --add-config \(setting)."
    }

    /// Topics whose oldest unread record will soon be removed.
    static func agingBacklogs(
        _ questions: KafkaQuestions, _ configuration: KafkaConfiguration
    ) throws(LogFailure) -> [String] {
        guard let leaders = questions.leaders(within: KafkaQuestions.tryLimit) else { return [] }
        let places = Topic.consumed.flatMap { topic in
            leaders.keys.filter { $0.topic == topic && leaders[$0] ?? -1 >= 0 }
        }
        let found = questions.offsetsOnce(places, leaders: leaders, within: KafkaQuestions.tryLimit)
        var starts: [KafkaPlace: Int64] = [:]
        for (place, result) in zip(places, found) {
            if let offsets = try? result.get(), offsets.records > 0 { starts[place] = offsets.start }
        }
        if starts.isEmpty { return [] }
        let settings = try questions.settings(of: Set(starts.keys.map { configuration.name($0.topic) }).sorted())
        let times = try KafkaReader(configuration, .sampler).timestamps(at: starts, isFirstAfter: true)
        let now = SystemTime.wall
        return Topic.consumed.compactMap { topic in
            let name = configuration.name(topic)
            let oldest = times.filter { $0.key.topic == topic }.compactMap { try? $0.value.get() }.min()
            guard let oldest, let kept = settings[name]?["retention.ms"].flatMap({ Int64($0) }) else { return nil }
            return agingBacklog(name, age: now - oldest, kept: .milliseconds(kept))
        }
    }

    /// Warning about a backlog; nil if its oldest unread record may wait as long again.
    ///
    /// - Parameters:
    ///   - age: age of the oldest unread record.
    ///   - kept: `retention.ms`; negative: for ever.
    static func agingBacklog(_ name: String, age: Duration, kept: Duration) -> String? {
        guard kept >= .zero, age > kept / 2 else { return nil }
        return
            "\(name) has a record that has waited for \(age.components.seconds / 60) min, and retention.ms=\(kept.milliseconds) removes it after \(kept.components.seconds / 60) min. Start more workers, or raise retention.ms."
    }
}

extension Topic {
    /// Whether a removed record is a job that is never done.
    fileprivate var holdsJobs: Bool { lane != nil || isRetry || self == .control }
}
