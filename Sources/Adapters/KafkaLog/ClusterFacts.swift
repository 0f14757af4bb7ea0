internal import CRdkafka
internal import Clocks
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records
internal import Synchronization

/// The cluster's metadata.
struct ClusterFacts: Sendable {
    var brokers = 0
    var topics: [String: TopicFacts] = [:]
}

/// The metadata of one topic.
struct TopicFacts: Sendable, Equatable {
    var partitions: Int
    /// Replicas of the partition that has the fewest.
    var replicas: Int
    var error: String?
    /// Partitions that no broker leads.
    var leaderless: [Int32] = []
}

extension KafkaClient {
    /// Asks for every topic of the cluster; retries until the deadline while no broker responds. Blocks.
    func learnCluster(
        _ configuration: KafkaConfiguration
    ) throws(LogFailure) -> ClusterFacts {
        let deadline = SystemTime.monotonic + configuration.timing.response
        var cause: (code: rd_kafka_resp_err_t, text: String)?
        while true {
            let left = deadline - SystemTime.monotonic
            var found: UnsafePointer<rd_kafka_metadata>?
            let wait = max(.milliseconds(1), min(left, KafkaQuestions.tryLimit))
            let error = rd_kafka_metadata(handle, 1, nil, &found, wait.kafka)
            if error.isNone, let found {
                defer { rd_kafka_metadata_destroy(found) }
                return Self.facts(found.pointee)
            }
            cause = lastError() ?? cause
            let text = cause?.text ?? String(cString: rd_kafka_err2str(error))
            let failure = LogFailure(
                cause?.code ?? error, reason: LogFailure.unreachable(configuration.bootstrap, text))
            if case .denied(let reason) = failure { throw .denied(reason: reason + configuration.security.hint) }
            if left < .milliseconds(1) { throw failure }
        }
    }

    /// Learns the partitions' leaders once, so that the next question goes to them; false if no broker responded.
    /// Blocks.
    @discardableResult
    func learnLeaders(within limit: Duration) -> Bool {
        var found: UnsafePointer<rd_kafka_metadata>?
        guard rd_kafka_metadata(handle, 1, nil, &found, limit.kafka).isNone else { return false }
        rd_kafka_metadata_destroy(found)
        return true
    }

    /// Learns the leaders of topics; call it before topics are read. librdkafka 2.0.2 learns the leaders of a new topic
    /// only with its next request for all topics, so its partitions would wait for up to a second (librdkafka #694).
    /// Blocks for no longer than that.
    func learnLeaders(of topics: [Topic]) {
        guard !known.withLock({ $0.isSuperset(of: topics) }), learnLeaders(within: .seconds(1)) else { return }
        known.withLock { $0.formUnion(topics) }
    }

    private static func facts(_ metadata: rd_kafka_metadata) -> ClusterFacts {
        var facts = ClusterFacts(brokers: Int(metadata.broker_cnt))
        for index in 0..<Int(metadata.topic_cnt) {
            let topic = metadata.topics[index]
            let partitions = (0..<Int(topic.partition_cnt)).map { topic.partitions[$0] }
            facts.topics[String(cString: topic.topic)] = TopicFacts(
                partitions: partitions.count, replicas: partitions.map { Int($0.replica_cnt) }.min() ?? 0,
                error: topic.err.isNone ? nil : String(cString: rd_kafka_err2str(topic.err)),
                leaderless: partitions.filter { $0.leader < 0 }.map(\.id).sorted())
        }
        return facts
    }
}
