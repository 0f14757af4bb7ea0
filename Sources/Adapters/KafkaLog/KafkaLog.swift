package import Clocks
internal import Glibc
package import KafkaSetup
package import Ports
internal import Posix
package import Records

/// The job log on a Kafka cluster: topics that all workers of a group share.
///
/// Any process may append and read; `KafkaLogConsumer` is the side of a worker that owns partitions.
///
/// - Concurrency: librdkafka has threads of its own; blocking calls run on threads of ours.
package final class KafkaLog: Log {
    package let partitionCount: Int
    /// The cluster's unique id.
    package let clusterID: String
    let configuration: KafkaConfiguration
    let notice: @Sendable (String) -> Void
    let detail: @Sendable (String) -> Void
    /// Blocks, so only threads of ours may use it.
    let questions: KafkaQuestions
    /// Closed while an owner in this process cannot be sure that it still owns its partitions.
    let fence = WriteFence()
    private let producer: KafkaProducer
    private let outside: Outside

    /// Connects and checks that the topics exist; blocks for up to some seconds.
    ///
    /// - Parameters:
    ///   - notice: receives events that help an operator to find trouble: lost brokers, librdkafka's warnings.
    ///   - detail: receives librdkafka's own text of an event that a notice describes in our words.
    package init(
        _ configuration: KafkaConfiguration, notice: @escaping @Sendable (String) -> Void = { _ in },
        detail: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(LogFailure) {
        let wrong = configuration.problems
        guard wrong.isEmpty else { throw .misconfigured(problems: wrong.map(\.description)) }
        (self.configuration, self.notice, self.detail) = (configuration, notice, detail)
        questions = try KafkaQuestions(configuration)
        partitionCount = try questions.shapeInUse().used
        clusterID = try questions.clusterID()
        producer = try KafkaProducer(configuration, notice: notice)
        outside = Outside(questions)
    }

    /// Connects as the initialiser does, without blocking the caller.
    package static func open(
        _ configuration: KafkaConfiguration, notice: @escaping @Sendable (String) -> Void = { _ in },
        detail: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(LogFailure) -> KafkaLog {
        try await OwnThread.result("kafka open") { () throws(LogFailure) in
            try KafkaLog(configuration, notice: notice, detail: detail)
        }
    }

    package var isIndexed: Bool { false }

    package func toolTopic(_ topic: Topic) -> ToolTopic? {
        ToolTopic(bootstrap: configuration.bootstrap, name: configuration.name(topic))
    }

    /// One day less than the topics keep tombstones, because the clocks of brokers and workers differ.
    package var tombstonesKept: Duration? { TopicPlan.tombstonesKept - .days(1) }

    package func append(_ records: [NewRecord]) async -> [AppendResult] { await append(records) { true } }

    package func append(_ records: [NewRecord], as owner: Ownership) async -> [AppendResult] {
        await append(records) { [fence] in fence.isHeld(owner) }
    }

    /// `isOurs` is called last: if the process was stopped in between, it has released its partitions by then.
    private func append(
        _ records: [NewRecord], while isOurs: @escaping @Sendable () -> Bool
    ) async -> [AppendResult] {
        await producer.append(records, within: partitionCount) { [fence] in
            if !fence.isOpen { return .unavailable(reason: "this worker was away for longer than its session lives") }
            return isOurs() ? nil : .unavailable(reason: "its partition has gone to another owner meanwhile")
        }
    }

    package func bounds(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Range<Int64> {
        try await outside.bounds(place(topic, partition))
    }

    package func committed(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Int64? {
        try await outside.committed(place(topic, partition))
    }

    package func partitionOffsets(
        _ topics: [Topic], _ partitions: [PartitionID]
    ) async throws(LogFailure) -> [PartitionOffsets] {
        var places: [KafkaPlace] = []
        for topic in topics {
            for partition in partitions { places.append(try place(topic, partition)) }
        }
        return try await outside.partitionOffsets(places)
    }

    package func offsets(of places: [LogPoint]) async -> [Result<PartitionOffsets, LogFailure>] {
        await outside.offsets(of: places)
    }

    package func grownTopics() async throws(LogFailure) -> [GrownTopic] {
        try await outside.grownTopics(used: partitionCount)
    }

    package func sights(at points: [LogPoint]) async -> [Result<LogSight, LogFailure>] {
        await outside.sights(at: points)
    }

    package func read(
        _ topic: Topic, _ partition: PartitionID, from offset: Int64, limit: Int
    ) async throws(LogFailure) -> [Record] {
        try await outside.records(place(topic, partition), from: offset, limit: limit)
    }

    package func hiddenTimes(at points: [LogPoint]) async -> [Result<WallTime?, LogFailure>] {
        await outside.hiddenTimes(at: points)
    }

    package func latest(
        _ topic: Topic, _ partition: PartitionID, keyPrefix prefix: [UInt8]
    ) async throws(LogFailure) -> [Record] {
        try await outside.latest(place(topic, partition), keyPrefix: prefix)
    }

    package func owner(of partition: PartitionID) async throws(LogFailure) -> String? {
        try await outside.owner(of: place(.fingerprint, partition).partition)
    }

    /// Refuses appends that no broker has received yet, because their partitions have lost their owner.
    func refuseQueued() { producer.refuseQueued() }

    package func close() async {
        await producer.close()
        await outside.close()
    }

    /// Whether appends are refused because their owner was away; for tests.
    package var isFenced: Bool { !fence.isOpen }

    /// Breaks the producer as a broker does that has lost its state; for tests.
    func breakProducer() { producer.breakFatally() }

    private func place(_ topic: Topic, _ partition: PartitionID) throws(LogFailure) -> KafkaPlace {
        let place = KafkaPlace(topic, partition)
        try place.check(within: partitionCount)
        return place
    }
}

/// Reads and questions for callers that own no partition, run one after another on a thread of ours.
private actor Outside {
    private nonisolated let thread = PollThread("kafka reader")
    private let questions: KafkaQuestions
    private var reader: KafkaReader?
    /// The partitions' owners: the coordinator returns all of them at once, and tools ask for one partition after
    /// another.
    private var owners: (at: Instant, byPartition: [PartitionID: String])?
    private var isClosed = false

    private static let ownersAge = Duration.seconds(1)

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ questions: KafkaQuestions) { self.questions = questions }

    func bounds(_ place: KafkaPlace) throws(LogFailure) -> Range<Int64> {
        if isClosed { throw .closed }
        return try questions.bounds([place])[0]
    }

    func committed(_ place: KafkaPlace) throws(LogFailure) -> Int64? {
        if isClosed { throw .closed }
        return try questions.committedOffsets([place])[0]
    }

    func partitionOffsets(_ places: [KafkaPlace]) throws(LogFailure) -> [PartitionOffsets] {
        if isClosed { throw .closed }
        // Committed offsets come first. In the other order, a record that was appended and completed between the two
        // questions would leave a committed offset above the end.
        let committedOffsets = try questions.committedOffsets(places)
        // Read before the bounds, so that records appended between the two questions do not count as hidden.
        let high = try questions.highWatermarks(places)
        let bounds = try questions.bounds(places)
        return places.indices.map {
            PartitionOffsets(
                topic: places[$0].topic, partition: places[$0].partition, bounds: bounds[$0],
                committed: committedOffsets[$0], hidden: max(0, high[$0] - bounds[$0].upperBound))
        }
    }

    /// Retries failed topic-partitions for `patience`, because a leader may have moved.
    func offsets(of points: [LogPoint]) -> [Result<PartitionOffsets, LogFailure>] {
        guard !isClosed else { return points.map { _ in .failure(.closed) } }
        let places = points.map { KafkaPlace($0.topic, $0.partition) }
        let deadline = SystemTime.monotonic + Self.patience
        var answers: [KafkaPlace: Result<PartitionOffsets, LogFailure>] = [:]
        var left = places
        while true {
            guard let leaders = questions.leaders(within: KafkaQuestions.tryLimit) else {
                let silence = questions.silence
                return places.map { answers[$0] ?? .failure(silence) }
            }
            let found = questions.offsetsOnce(left, leaders: leaders, within: KafkaQuestions.tryLimit)
            for (place, answer) in zip(left, found) { answers[place] = answer }
            left = zip(left, found).compactMap { place, answer in
                if case .failure(.unavailable) = answer { place } else { nil }
            }
            guard !left.isEmpty, SystemTime.monotonic < deadline else { break }
            usleep(50_000)
        }
        // The client's metadata may lack a leader that moved meanwhile.
        if !left.isEmpty, let leaders = questions.leaders(within: KafkaQuestions.tryLimit) {
            for place in left where leaders[place] ?? -1 < 0 {
                answers[place] = .failure(questions.absence(of: -1, place))
            }
        }
        let unsaid = LogFailure.unavailable(reason: "the cluster says nothing of it")
        return places.map { answers[$0] ?? .failure(unsaid) }
    }

    private static let patience = Duration.seconds(3)

    func grownTopics(used: Int) throws(LogFailure) -> [GrownTopic] {
        if isClosed { throw .closed }
        var shape = try questions.shape()
        shape.use(used)
        return questions.grownTopics(shape)
    }

    func records(_ place: KafkaPlace, from offset: Int64, limit: Int) throws(LogFailure) -> [Record] {
        let bounds = try bounds(place)
        let start = max(offset, bounds.lowerBound)
        guard limit > 0, start < bounds.upperBound else { return [] }
        return try opened().records(place, start..<bounds.upperBound, limit: limit)
    }

    /// Reads records before bounds, so that records removed by retention in between do not look like a replaced log.
    /// The bounds of all topic-partitions are asked together. If that fails, they are asked one by one, so that an
    /// absent leader fails only its own.
    func sights(at points: [LogPoint]) -> [Result<LogSight, LogFailure>] {
        let places = points.map { KafkaPlace($0.topic, $0.partition) }
        var fingerprints: [KafkaPlace: Int64] = [:]
        for (point, place) in zip(points, places) { fingerprints[place] = point.offset }
        do throws(LogFailure) {
            let timestamps = fingerprints.isEmpty ? [:] : try opened().timestamps(at: fingerprints)
            let all = try? questions.bounds(places)
            return places.enumerated().map { index, place in
                do throws(LogFailure) {
                    let timestamp = try timestamps[place]?.get() ?? nil
                    if let bounds = all?[index] { return .success(LogSight(bounds: bounds, timestamp: timestamp)) }
                    return .success(LogSight(bounds: try bounds(place), timestamp: timestamp))
                } catch { return .failure(error) }
            }
        } catch {
            return points.map { _ in .failure(error) }
        }
    }

    func hiddenTimes(at points: [LogPoint]) -> [Result<WallTime?, LogFailure>] {
        questions.hiddenTimes(at: points, within: questions.configuration.timing.response)
    }

    func latest(_ place: KafkaPlace, keyPrefix: [UInt8]) throws(LogFailure) -> [Record] {
        let bounds = try bounds(place)
        return try opened().latest(place, bounds, keyPrefix: keyPrefix)
    }

    func owner(of partition: PartitionID) throws(LogFailure) -> String? {
        if isClosed { throw .closed }
        let now = SystemTime.monotonic
        if let owners, now - owners.at < Self.ownersAge { return owners.byPartition[partition] }
        let found = try questions.members().owners
        owners = (now, found)
        return found[partition]
    }

    func close() { (reader, isClosed) = (nil, true) }

    private func opened() throws(LogFailure) -> KafkaReader {
        if let reader { return reader }
        let opened = try KafkaReader(questions.configuration)
        reader = opened
        return opened
    }
}
