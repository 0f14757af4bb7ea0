internal import Clocks
internal import KafkaSetup
internal import Posix

/// The purpose of a client: each one has options of its own.
enum ClientKind: Sendable {
    /// Appends records.
    case producer
    /// Owns partitions as a member of the group.
    case member
    /// Reads `control` and the old retry topics of the member's partitions, where no job waits for the next half second.
    case patient
    /// Asks questions and never fetches. Behind a pending fetch, the broker would delay every question, too.
    case questions
    /// Asks the same, including records that open transactions hide.
    case hiddenQuestions
    /// Samples a few records that a transaction hides.
    case hiddenSampler
    /// Reads from outside, without joining the group.
    case reader
    /// Samples a few records of many partitions, for callers that can wait.
    case sampler

    var isProducer: Bool { self == .producer }
    /// Whether one of our threads serves its events all the time.
    var isServed: Bool { self == .producer || self == .member || self == .patient }
}

extension KafkaConfiguration {
    /// Options of librdkafka for a client, in the order in which they are set. The operator's options win, except that
    /// the options that the design depends on cannot be configured (`problems`).
    func clientOptions(_ kind: ClientKind) -> [(name: String, value: String)] {
        var all = shared + security.clientOptions
        switch kind {
        case .producer: all += producer + [("log.queue", "true")]
        case .member: all += consumer + member + [("log.queue", "true")]
        case .patient: all += consumer + fetching(waiting: .milliseconds(500)) + [("log.queue", "true")]
        case .questions: all += consumer
        case .hiddenQuestions: all += consumer + uncommitted
        case .hiddenSampler: all += consumer + sampler + uncommitted
        case .reader: all += consumer + reader
        case .sampler: all += consumer + sampler
        }
        return all + options.sorted { $0.key < $1.key }.map { ($0.key, $0.value.revealed) }
    }

    private var shared: [(name: String, value: String)] {
        [
            ("bootstrap.servers", bootstrap), ("client.id", clientID), ("log_level", "4"),
            // Nagle's algorithm is on by default before librdkafka 2.10.
            ("socket.nagle.disable", "true"), ("reconnect.backoff.ms", "100"), ("reconnect.backoff.max.ms", "2000"),
            ("allow.auto.create.topics", "false"), ("message.max.bytes", "\(Self.recordBytes)"),
            // Finds a new topic that the first request missed, and a partition's new leader after its broker went down.
            // The default is 5 minutes (confluent-kafka-go #196, librdkafka #569).
            ("topic.metadata.refresh.interval.ms", "30000"),
        ]
    }

    private var producer: [(name: String, value: String)] {
        [
            ("enable.idempotence", "true"), ("acks", "all"), ("partitioner", "murmur2_random"),
            // Batches come ready-made from `append`: lingering would only add its milliseconds.
            ("linger.ms", "0"), ("compression.codec", "lz4"), ("message.timeout.ms", "\(timing.append.milliseconds)"),
            ("queue.buffering.max.messages", "500000"), ("queue.buffering.max.kbytes", "65536"),
        ]
    }

    private var consumer: [(name: String, value: String)] {
        [
            ("group.id", group), ("enable.auto.commit", "false"), ("enable.auto.offset.store", "false"),
            ("auto.offset.reset", "earliest"), ("enable.partition.eof", "true"),
        ]
    }

    /// Overrides librdkafka's default, which reads up to the last stable offset and takes that for a partition's end.
    private var uncommitted: [(name: String, value: String)] { [("isolation.level", "read_uncommitted")] }

    private var member: [(name: String, value: String)] {
        [
            ("partition.assignment.strategy", "range"), ("session.timeout.ms", "\(timing.session.milliseconds)"),
            // A member hears of a rebalance with its next heartbeat, and all members wait for the last one. At a
            // restart, partitions had no owner for 0.8 to 1.1 s with 1 s between heartbeats, and for 0.2 to 0.4 s with
            // 300 ms.
            ("heartbeat.interval.ms", "\(min(300, max(100, timing.session.milliseconds / 10)))"),
            ("max.poll.interval.ms", "\(max(60_000, 2 * timing.stall.milliseconds))"),
        ] + fetching(waiting: .milliseconds(50))
    }

    /// Prefetch is set for each partition, and a worker may own dozens of them on nine topics, so memory comes before
    /// throughput. A full queue is checked again when the broker's thread wakes; the fetches of idle topics bound that
    /// time.
    private func fetching(waiting time: Duration) -> [(name: String, value: String)] {
        [
            ("fetch.wait.max.ms", "\(time.milliseconds)"), ("fetch.error.backoff.ms", "100"),
            ("queued.min.messages", "100000"),
            ("queued.max.messages.kbytes", "512"), ("fetch.message.max.bytes", "\(64 << 10)"),
            ("fetch.max.bytes", "\(4 << 20)"),
        ]
    }
}

extension KafkaConfiguration {
    /// Options for reading one partition at a time while a caller waits: the next partition waits for the last fetch.
    private var reader: [(name: String, value: String)] {
        [
            ("fetch.wait.max.ms", "10"), ("fetch.error.backoff.ms", "100"), ("fetch.message.max.bytes", "\(1 << 20)"),
            ("queued.max.messages.kbytes", "\(16 << 10)"),
        ]
    }

    /// Options that prefer few requests and little memory to speed: a partition is fetched again only once its queue is
    /// empty.
    private var sampler: [(name: String, value: String)] {
        [
            ("fetch.wait.max.ms", "500"), ("fetch.error.backoff.ms", "1000"), ("queued.min.messages", "1"),
            ("fetch.message.max.bytes", "\(256 << 10)"), ("fetch.max.bytes", "\(4 << 20)"),
            ("queued.max.messages.kbytes", "2048"),
        ]
    }
}

extension KafkaConfiguration.Security {
    fileprivate var clientOptions: [(name: String, value: String)] {
        var all = [("security.protocol", kind.rawValue)]
        if usesSASL {
            all += [
                ("sasl.mechanisms", mechanism.rawValue), ("sasl.username", user), ("sasl.password", password.revealed),
            ]
        }
        if usesTLS {
            if !authorities.isEmpty { all.append(("ssl.ca.location", authorities)) }
            if !certificate.isEmpty { all += [("ssl.certificate.location", certificate), ("ssl.key.location", key)] }
        }
        return all.map { (name: $0.0, value: $0.1) }
    }
}
