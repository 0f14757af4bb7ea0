internal import Clocks
internal import Glibc
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records

/// What the cluster says of the topics' partitions, and how many of them are used.
///
/// The number decides by murmur2 where a source belongs, so that all workers and publishers must use the same one. Kafka takes
/// no partitions away: after some topics grew, the smallest number is the one that all programs began with, and those that
/// start meanwhile find it again.
struct TopicShape: Equatable {
    let counts: [Topic: Int]
    /// Of each topic the partitions below this number are used.
    private(set) var used: Int
    /// The number of the last partition that ever had an owner, plus one; nil: not known.
    let owned: Int?

    init(_ counts: [Topic: Int], owned: Int?) {
        (self.counts, self.owned) = (counts, owned)
        used = counts.values.min() ?? 0
    }

    var grown: [Topic] { Topic.allCases.filter { counts[$0] ?? 0 > used } }

    /// Topics that lost partitions: somebody deleted them, and created them with fewer.
    var shrunk: [Topic] { owned.map { owned in Topic.allCases.filter { counts[$0] ?? owned < owned } } ?? [] }

    /// Whether every topic has more partitions than ever had an owner, as where all of them grew while workers run.
    var isUnowned: Bool { owned.map { $0 > 0 && $0 < used } ?? false }

    mutating func use(_ count: Int) { used = count }
}

extension KafkaQuestions {
    /// - Failure: a topic is missing, or has fewer partitions than have had an owner.
    func shape() throws(LogFailure) -> TopicShape {
        let facts = try topicsOnceSpread()
        let problems = KafkaTopics.missing(facts, configuration)
        guard problems.isEmpty else { throw .topics(problems: problems, remedy: "") }
        let counts = Dictionary(
            uniqueKeysWithValues: Topic.allCases.map { ($0, facts[configuration.name($0)]?.partitions ?? 0) })
        let shape = TopicShape(counts, owned: ownedPartitions(of: counts[.variants] ?? 0))
        guard shape.shrunk.isEmpty else {
            let list = shape.shrunk.map { "\(configuration.name($0)) has \(counts[$0] ?? 0)" }.joined(separator: ", ")
            throw .topics(
                problems: ["The workers have used \(shape.owned ?? 0) partitions of each topic, and \(list)."],
                remedy:
                    "Delete these topics (\(configuration.command("--delete", shape.shrunk))), and create them with the right number (mezzotint topics create --partitions \(shape.owned ?? 0))."
            )
        }
        return shape
    }

    /// As the members of the group see it: each worker names the number that it uses in its client id (`MemberName`). Programs
    /// that start must use the same number, or jobs of one source would meet in two workers.
    ///
    /// If no member names one, the partitions that have had an owner count while the group has members, or cannot be asked.
    /// A number that each partition's owner has proved is not asked for.
    func shapeInUse() throws(LogFailure) -> TopicShape {
        var shape = try shape()
        if shape.owned == shape.used { return shape }
        let members = try? members(within: Self.tryLimit)
        if let named = members?.partitionsUsed(of: shape.used) {
            shape.use(named)
        } else if shape.isUnowned, let owned = shape.owned, members?.isEmpty != true {
            shape.use(owned)
        }
        return shape
    }

    /// Brokers learn of new topics one after another, and any of them may be asked: a topic that some broker does not
    /// know for longer is missing.
    private func topicsOnceSpread() throws(LogFailure) -> [String: TopicFacts] {
        let deadline = SystemTime.monotonic + Self.spreadTime
        var topics = try self.topics()
        while KafkaTopics.isAnyMissing(topics, configuration), SystemTime.monotonic < deadline {
            usleep(50_000)
            topics = try self.topics()
        }
        return topics
    }

    private static let spreadTime = Duration.seconds(1)

    /// The number of the last partition whose changelog ever had a record, plus one; nil if a leader does not respond.
    private func ownedPartitions(of count: Int) -> Int? {
        let places = (0..<count).map { KafkaPlace(.variants, PartitionID(Int32($0))) }
        return ends(of: places).map { ends in (ends.lastIndex { $0.upperBound > 0 } ?? -1) + 1 }
    }

    /// What these places hold, asked once; nil where one of their leaders does not answer.
    private func ends(of places: [KafkaPlace]) -> [Range<Int64>]? {
        guard let leaders = leaders(within: Self.tryLimit) else { return nil }
        let found = offsetsOnce(places, leaders: leaders, within: Self.tryLimit, isReading: true)
        let bounds = found.compactMap { try? $0.get().bounds }
        return bounds.count == places.count ? bounds : nil
    }

    /// Records in partitions that are not used, of topics whose records are finished.
    func grownTopics(_ shape: TopicShape) -> [GrownTopic] {
        let used = shape.used
        return shape.grown.map { topic in
            let count = shape.counts[topic] ?? used
            let places = (used..<count).map { KafkaPlace(topic, PartitionID(Int32($0))) }
            let bounds = Topic.worked.contains(topic) ? ends(of: places) : nil
            let unread = bounds?.reduce(0) { $0 + Int64($1.count) }
            return GrownTopic(topic, partitions: count, used: used, unread: unread)
        }
    }
}

extension KafkaQuestions {
    /// When the records at these offsets were appended, though a transaction hides them: by a client that lives no longer.
    func hiddenTimes(at points: [LogPoint], within patience: Duration) -> [Result<WallTime?, LogFailure>] {
        if points.isEmpty { return [] }
        var offsets: [KafkaPlace: Int64] = [:]
        for point in points { offsets[KafkaPlace(point.topic, point.partition)] = point.offset ?? 0 }
        do throws(LogFailure) {
            let times = try KafkaReader(configuration, .hiddenSampler, patience: patience).timestamps(at: offsets)
            return points.map { times[KafkaPlace($0.topic, $0.partition)] ?? .success(nil) }
        } catch {
            return points.map { _ in .failure(error) }
        }
    }
}

extension KafkaConfiguration {
    /// A line for a shell that does this to these topics; the tool takes one topic at a time.
    func command(_ action: String, _ topics: [Topic], partitions: Int? = nil) -> String {
        let tool = "kafka-topics.sh --bootstrap-server \(bootstrap) \(action)"
        let count = partitions.map { " --partitions \($0)" } ?? ""
        if topics.count == 1 { return "\(tool) --topic \(name(topics[0]))\(count)" }
        return "for topic in \(topics.map(name).joined(separator: " ")); do \(tool) --topic $topic\(count); done"
    }
}
