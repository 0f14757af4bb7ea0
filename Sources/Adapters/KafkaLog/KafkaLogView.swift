package import Clocks
package import KafkaSetup
package import Ports
internal import Posix
package import Records
internal import Synchronization

/// The cluster's log as a plain client sees it: it joins no group, commits nothing and appends nothing.
///
/// Each question is asked once, within `patience`: retries would only load a broker that does not respond.
///
/// - Concurrency: questions run one after another, on a thread of ours.
package actor KafkaLogView: LogView {
    package nonisolated let partitionCount: Int
    package nonisolated let isIndexed = false
    /// Whether the view's topics are current. Clients find topics by name, so once all workers use more partitions, the
    /// view is opened again.
    package nonisolated var isInPlace: Bool { !isOutdated.load(ordering: .relaxed) }
    private nonisolated let isOutdated = Atomic(false)
    private nonisolated let thread = PollThread("kafka view")
    private let questions: KafkaQuestions
    private var reader: KafkaReader?
    /// Leaders from the last metadata response; nil if they must be asked for.
    private var leaders: [KafkaPlace: Int32]?
    /// Bounds from the last call of `offsets`. A reader has called it before, so the broker is not asked again for each
    /// read.
    private var bounds: [KafkaPlace: Range<Int64>] = [:]

    private static let patience = Duration.seconds(2)

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private init(_ questions: KafkaQuestions, partitions: Int) {
        (self.questions, partitionCount) = (questions, partitions)
    }

    /// Connects and learns the topics; blocks for up to `kafka.timing.response`, on a thread of its own.
    package static func open(_ configuration: KafkaConfiguration) async throws(LogFailure) -> KafkaLogView {
        try await OwnThread.result("kafka view open") { () throws(LogFailure) in
            let wrong = configuration.problems
            guard wrong.isEmpty else { throw .misconfigured(problems: wrong.map(\.description)) }
            let questions = try KafkaQuestions(configuration)
            return KafkaLogView(questions, partitions: try questions.shapeInUse().used)
        }
    }

    package func offsets(of points: [LogPoint]) -> [Result<PartitionOffsets, LogFailure>] {
        let places = points.map { KafkaPlace($0.topic, $0.partition) }
        let results = offsets(places)
        for (place, result) in zip(places, results) { bounds[place] = try? result.get().bounds }
        // The next request then finds leaders that moved.
        if results.contains(where: { if case .failure = $0 { true } else { false } }) { leaders = nil }
        return results
    }

    private func offsets(_ places: [KafkaPlace]) -> [Result<PartitionOffsets, LogFailure>] {
        guard let leaders = leaders ?? questions.leaders(within: Self.patience) else {
            let silence = questions.silence
            return places.map { _ in .failure(silence) }
        }
        self.leaders = leaders
        return questions.offsetsOnce(places, leaders: leaders, within: Self.patience)
    }

    package func members() throws(LogFailure) -> [LogMember] { try questions.members() }

    package func grownTopics() throws(LogFailure) -> [GrownTopic] {
        let shape = try questions.shapeInUse()
        if shape.used != partitionCount { isOutdated.store(true, ordering: .relaxed) }
        // The next request then finds leaders that moved.
        leaders = nil
        return questions.grownTopics(shape)
    }

    /// Uses a short-lived client, because transactions that stay open are rare.
    package func hiddenTimes(at points: [LogPoint]) -> [Result<WallTime?, LogFailure>] {
        questions.hiddenTimes(at: points, within: Self.patience)
    }

    package func appendTimes(at points: [LogPoint]) -> [Result<WallTime?, LogFailure>] {
        if points.isEmpty { return [] }
        var offsets: [KafkaPlace: Int64] = [:]
        for point in points { offsets[KafkaPlace(point.topic, point.partition)] = point.offset ?? 0 }
        do throws(LogFailure) {
            let times = try opened().timestamps(at: offsets, isFirstAfter: true)
            return points.map { times[KafkaPlace($0.topic, $0.partition)] ?? .success(nil) }
        } catch {
            return points.map { _ in .failure(error) }
        }
    }

    package func read(
        _ topic: Topic, _ partition: PartitionID, from offset: Int64, limit: Int
    ) throws(LogFailure) -> [Record] {
        let place = KafkaPlace(topic, partition)
        let bounds = if let known = bounds[place] { known } else { try offsets([place])[0].get().bounds }
        let start = max(offset, bounds.lowerBound)
        guard limit > 0, start < bounds.upperBound else { return [] }
        return try opened().records(place, start..<bounds.upperBound, limit: limit)
    }

    package func latest(
        _ topic: Topic, _ partition: PartitionID, keyPrefix: [UInt8]
    ) throws(LogFailure) -> [Record] {
        let place = KafkaPlace(topic, partition)
        let bounds = try offsets([place])[0].get().bounds
        return try opened().latest(place, bounds, keyPrefix: keyPrefix)
    }

    package func retention() throws(LogFailure) -> [Topic: Duration] {
        let settings = try questions.settings(of: Topic.consumed.map(questions.configuration.name))
        var kept: [Topic: Duration] = [:]
        for topic in Topic.consumed {
            let text = settings[questions.configuration.name(topic)]?["retention.ms"] ?? ""
            if let milliseconds = Int64(text), milliseconds > 0 { kept[topic] = .milliseconds(milliseconds) }
        }
        return kept
    }

    package func close() { reader = nil }

    private func opened() throws(LogFailure) -> KafkaReader {
        if let reader { return reader }
        let opened = try KafkaReader(questions.configuration, .sampler, patience: Self.patience)
        reader = opened
        return opened
    }
}
