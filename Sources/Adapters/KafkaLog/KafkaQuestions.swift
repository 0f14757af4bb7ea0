internal import CRdkafka
internal import Clocks
internal import Glibc
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records
internal import Synchronization

/// Questions to the cluster: bounds, committed offsets, topics, owners. All calls block.
///
/// Has a client of its own that never fetches. The broker serves a connection in order, so behind a fetch that waits
/// for records each question takes as long as the fetch may wait (50 ms measured, 505 ms with librdkafka's default).
///
/// - Concurrency: from any thread of ours.
final class KafkaQuestions: Sendable {
    let client: KafkaClient
    let configuration: KafkaConfiguration
    /// Client for high watermarks; created for the first question.
    private let hiddenClient = Mutex<KafkaClient?>(nil)
    /// Client for the group's coordinator; created for the first question, and again after a question without a
    /// response.
    private let coordinatorClient = Mutex<KafkaClient?>(nil)

    init(_ configuration: KafkaConfiguration) throws(LogFailure) {
        self.configuration = configuration
        client = try KafkaClient(configuration, .questions)
    }

    func cluster() throws(LogFailure) -> ClusterFacts { try client.learnCluster(configuration) }
    func topics() throws(LogFailure) -> [String: TopicFacts] { try cluster().topics }

    /// The failure that no broker responds, with its reason.
    var silence: LogFailure {
        let reason = client.lastError()?.text ?? "no broker responds"
        return .unavailable(reason: LogFailure.unreachable(configuration.bootstrap, reason))
    }

    func clusterID() throws(LogFailure) -> String {
        guard let name = rd_kafka_clusterid(client.handle, configuration.timing.response.kafka) else {
            throw .unavailable(reason: "Kafka at \(configuration.bootstrap) does not name its cluster")
        }
        defer { rd_kafka_mem_free(client.handle, name) }
        return String(cString: name)
    }

    /// The first remaining offset and the next one of each topic-partition: two questions to each leader, however many
    /// there are.
    func bounds(_ places: [KafkaPlace]) throws(LogFailure) -> [Range<Int64>] {
        if places.isEmpty { return [] }
        let first = try patiently { (wait) throws(LogFailure) in
            try offsets(places, Int64(RD_KAFKA_OFFSET_BEGINNING), wait)
        }
        let next = try patiently { (wait) throws(LogFailure) in try offsets(places, Int64(RD_KAFKA_OFFSET_END), wait) }
        return zip(first, next).map { $0..<max($0, $1) }
    }

    /// The high watermark of each topic-partition: where the partition ends for the broker.
    func highWatermarks(_ places: [KafkaPlace]) throws(LogFailure) -> [Int64] {
        if places.isEmpty { return [] }
        let asker = try highClient()
        return try patiently(asker) { (wait) throws(LogFailure) in
            try offsets(places, Int64(RD_KAFKA_OFFSET_END), wait, by: asker)
        }
    }

    func highClient() throws(LogFailure) -> KafkaClient { try kept(in: hiddenClient, .hiddenQuestions) }

    /// - Important: `forgetCoordinator` must follow a question without a response. librdkafka (2.0.2; open in April
    ///   2026) forgets a question to a coordinator when its time has run out, and ends the process by an assertion once
    ///   the coordinator is back (librdkafka #4605). A client that ends drops its questions.
    func coordinatorAsker() throws(LogFailure) -> KafkaClient { try kept(in: coordinatorClient, .questions) }

    /// Lets the next question look for the coordinator again. librdkafka keeps the old one for minutes.
    func forgetCoordinator() {
        coordinatorClient.withLock { client in
            client?.abandon()
            client = nil
        }
    }

    private func kept(in place: borrowing Mutex<KafkaClient?>, _ kind: ClientKind) throws(LogFailure) -> KafkaClient {
        if let client = place.withLock({ $0 }) { return client }
        let made = try KafkaClient(configuration, kind)
        return place.withLock { client in
            client = client ?? made
            return client ?? made
        }
    }

    func learnHighLeaders(within limit: Duration) {
        hiddenClient.withLock { $0 }?.learnLeaders(within: limit)
    }

    /// The group's committed offsets; nil where the group has committed none.
    func committedOffsets(_ places: [KafkaPlace]) throws(LogFailure) -> [Int64?] {
        if places.isEmpty { return [] }
        return try patiently { (wait) throws(LogFailure) in try committed(places, wait) }
    }

    private func committed(_ places: [KafkaPlace], _ wait: Duration) throws(LogFailure) -> [Int64?] {
        let list = PartitionList(capacity: places.count)
        for place in places { list.add(configuration.name(place.topic), place.partition.number) }
        try rd_kafka_committed(client.handle, list.pointer, wait.kafka).check(
            "the committed offsets of group \(configuration.group)")
        var found: [Int64?] = []
        for (index, place) in places.enumerated() {
            try list.error(index).check(
                "the committed offset of \(configuration.name(place.topic)), partition \(place.partition)")
            found.append(list.offset(index) >= 0 ? try Self.checked(list.offset(index), place) : nil)
        }
        return found
    }

    /// ListOffsets accepts these two values in place of a time, and librdkafka passes them on. With
    /// `query_watermark_offsets`, each partition would cost a round trip.
    private func offsets(
        _ places: [KafkaPlace], _ which: Int64, _ wait: Duration, by asker: KafkaClient? = nil
    ) throws(LogFailure) -> [Int64] {
        let client = asker ?? client
        let list = PartitionList(capacity: places.count)
        for place in places { list.add(configuration.name(place.topic), place.partition.number, offset: which) }
        try rd_kafka_offsets_for_times(client.handle, list.pointer, wait.kafka).check("the bounds of partitions")
        var found: [Int64] = []
        for (index, place) in places.enumerated() {
            try list.error(index).check(
                "the bounds of \(configuration.name(place.topic)), partition \(place.partition)")
            found.append(try Self.checked(list.offset(index), place))
        }
        return found
    }

    /// Refuses offsets that no partition reaches: another program committed them. Offsets are counted up, and
    /// multiplied for epochs (`Assignment.epoch`).
    static func checked(_ offset: Int64, _ place: KafkaPlace) throws(LogFailure) -> Int64 {
        guard !KafkaConfiguration.offsets.contains(offset) else { return offset }
        let name = "\(place.topic.rawValue), partition \(place.partition),"
        throw .topics(
            problems: [
                "\(name) is said to be at offset \(offset), not from 0 to \(KafkaConfiguration.offsets.upperBound)."
            ],
            remedy:
                "Find what committed that; set the group's offset right by kafka-consumer-groups.sh --reset-offsets.")
    }

    /// Retries until the time is up, because a leader may have moved (its broker went down, or the topics are new).
    ///
    /// The new leader is learnt before each retry. For topics that a client does not read, librdkafka keeps its
    /// metadata for 15 minutes, and would ask the old leader, or wait for one that is gone.
    private func patiently<R>(
        _ asker: KafkaClient? = nil, _ ask: (_ limit: Duration) throws(LogFailure) -> R
    ) throws(LogFailure) -> R {
        let deadline = SystemTime.monotonic + configuration.timing.response
        while true {
            let left = deadline - SystemTime.monotonic
            do throws(LogFailure) {
                return try ask(max(.milliseconds(1), min(left, Self.tryLimit)))
            } catch {
                guard case .unavailable = error, SystemTime.monotonic < deadline else { throw error }
                usleep(50_000)
                (asker ?? client).learnLeaders(within: Self.tryLimit)
            }
        }
    }

    /// Longest wait of one try for a broker that may be gone.
    static let tryLimit = Duration.seconds(2)
}
