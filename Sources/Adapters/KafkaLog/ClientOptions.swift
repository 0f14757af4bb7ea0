internal import Clocks
internal import KafkaSetup
internal import Posix

/// What a client is for: each kind has options of its own.
enum ClientKind: Sendable {
    /// Appends.
    case producer
    /// Owns partitions as a member of the group.
    case member
    /// Reads what nobody waits for of the partitions that the member owns.
    case patient
    /// Asks questions and never fetches: behind a fetch that waits, the broker would let every question wait too.
    case questions
    /// The same, of what transactions that are open hide, too.
    case hiddenQuestions
    /// Reads a little that a transaction hides.
    case hiddenSampler
    /// Reads from outside, without joining the group.
    case reader
    /// Reads a little of many partitions, where nobody waits.
    case sampler

    var isProducer: Bool { self == .producer }
    /// Whether a thread of ours serves its events all the time.
    var isServed: Bool { self == .producer || self == .member || self == .patient }
}

extension KafkaConfiguration {
    /// librdkafka's options for a client, in the order in which they are set: what a person configured wins, and
    /// nothing that matters to the design can be configured (`problems`).
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
            // What the first look missed is looked for again: a topic that is new, or the leader that a partition has since
            // its broker went down. By default that takes 5 minutes (confluent-kafka-go #196, librdkafka #569).
            ("topic.metadata.refresh.interval.ms", "30000"),
        ]
    }

    private var producer: [(name: String, value: String)] {
        [
            ("enable.idempotence", "true"), ("acks", "all"), ("partitioner", "murmur2_random"),
            // Batches come ready-made from `append`: lingering only adds its milliseconds.
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

    /// By default librdkafka reads up to the last stable offset, and takes that for a partition's end.
    private var uncommitted: [(name: String, value: String)] { [("isolation.level", "read_uncommitted")] }

    private var member: [(name: String, value: String)] {
        [
            ("partition.assignment.strategy", "range"), ("session.timeout.ms", "\(timing.session.milliseconds)"),
            // By its next heartbeat a member hears that the group shares out anew, and all wait for the last one: at a restart
            // partitions had no owner for 0.8 to 1.1 s with a second between heartbeats, for 0.2 to 0.4 s with 300 ms.
            ("heartbeat.interval.ms", "\(min(300, max(100, timing.session.milliseconds / 10)))"),
            ("max.poll.interval.ms", "\(max(60_000, 2 * timing.stall.milliseconds))"),
        ] + fetching(waiting: .milliseconds(50))
    }

    /// Prefetch is for each partition, and a worker may own dozens of them on nine topics: memory before throughput. A
    /// full queue is looked at again when the broker's thread wakes, which the idle topics' fetches bound to that time.
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
    /// One partition at a time, and somebody waits for it: the next one waits until the broker has answered the last fetch.
    private var reader: [(name: String, value: String)] {
        [
            ("fetch.wait.max.ms", "10"), ("fetch.error.backoff.ms", "100"), ("fetch.message.max.bytes", "\(1 << 20)"),
            ("queued.max.messages.kbytes", "\(16 << 10)"),
        ]
    }

    /// Few requests and little memory before speed: a partition is asked again only once nothing of it is left here.
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
