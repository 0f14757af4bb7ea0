internal import Clocks
internal import Glibc
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records

/// Partition counts of the topics on the cluster, and how many partitions of each are used.
///
/// The number decides by murmur2 which partition a source maps to, so all workers and publishers must use the same one.
/// Kafka never removes partitions. After some topics grew, the smallest count is the number that all programs began
/// with, and programs that start meanwhile find it again.
struct TopicShape: Equatable {
    let counts: [Topic: Int]
    /// Number of partitions used of each topic: those below this number.
    private(set) var used: Int
    /// Number of the last partition that ever had an owner, plus one; nil: not known.
    let owned: Int?

    init(_ counts: [Topic: Int], owned: Int?) {
        (self.counts, self.owned) = (counts, owned)
        used = counts.values.min() ?? 0
    }

    var grown: [Topic] { Topic.allCases.filter { counts[$0] ?? 0 > used } }

    /// Topics that lost partitions, because they were deleted and created again with fewer.
    var shrunk: [Topic] { owned.map { owned in Topic.allCases.filter { counts[$0] ?? owned < owned } } ?? [] }

    /// Whether every topic has more partitions than ever had an owner, as after all of them grew while workers run.
    var isUnowned: Bool { owned.map { $0 > 0 && $0 < used } ?? false }

    mutating func use(_ count: Int) { used = count }
}

extension KafkaQuestions {
    /// Reads the topics' shape.
    ///
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

    /// The shape that the members of the group use: each worker names its number in its client id (`MemberName`).
    /// Programs that start must use the same number, or two workers would process jobs of one source.
    ///
    /// If no member names one, the number of partitions that have had an owner counts while the group has members, or
    /// cannot be asked. If the last used partition has had an owner, the group is not asked.
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

    /// Topics, once every broker knows them. Brokers learn of new topics one after another, and the client may ask any
    /// of them: a topic that some broker does not know for longer is missing.
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

    /// Bounds of these topic-partitions, asked once; nil if one of their leaders does not respond.
    private func ends(of places: [KafkaPlace]) -> [Range<Int64>]? {
        guard let leaders = leaders(within: Self.tryLimit) else { return nil }
        let found = offsetsOnce(places, leaders: leaders, within: Self.tryLimit, isReading: true)
        let bounds = found.compactMap { try? $0.get().bounds }
        return bounds.count == places.count ? bounds : nil
    }

    /// Pending records in partitions that are not used, of topics whose records workers complete.
    func grownTopics(_ shape: TopicShape) -> [GrownTopic] {
        let used = shape.used
        return shape.grown.map { topic in
            let count = shape.counts[topic] ?? used
            let places = (used..<count).map { KafkaPlace(topic, PartitionID(Int32($0))) }
            let bounds = Topic.consumed.contains(topic) ? ends(of: places) : nil
            let unread = bounds?.reduce(0) { $0 + Int64($1.count) }
            return GrownTopic(topic, partitions: count, used: used, unread: unread)
        }
    }
}

extension KafkaQuestions {
    /// Append times of the records at these offsets, even if a transaction hides them; uses a short-lived client.
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
    /// A shell command line that applies this action to these topics; the tool takes one topic at a time.
    func command(_ action: String, _ topics: [Topic], partitions: Int? = nil) -> String {
        let tool = "kafka-topics.sh --bootstrap-server \(bootstrap) \(action)"
        let count = partitions.map { " --partitions \($0)" } ?? ""
        if topics.count == 1 { return "\(tool) --topic \(name(topics[0]))\(count)" }
        return "for topic in \(topics.map(name).joined(separator: " ")); do \(tool) --topic $topic\(count); done"
    }
}
