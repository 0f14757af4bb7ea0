internal import CRdkafka
internal import Glibc
package import KafkaSetup

extension KafkaConfiguration {
    /// One problem: which setting it concerns, and what to do.
    package struct Problem: Sendable, Hashable, CustomStringConvertible {
        package let key: String
        package let message: String
        package var description: String { "\(key) \(message)" }
        init(_ key: String, _ message: String) { (self.key, self.message) = (key, message) }
    }

    /// All problems of the configuration; empty if it can be used.
    package var problems: [Problem] {
        var problems: [Problem] = []
        let brokers = bootstrap.split(separator: ",")
        if brokers.isEmpty {
            problems.append(Problem("kafka.bootstrap", "is empty: name at least one broker as host:port."))
        }
        for broker in brokers where !Self.isBroker(broker) {
            problems.append(
                Problem(
                    "kafka.bootstrap",
                    "expected brokers as host:port, with a port from 1 to 65535, got '\(broker.prefix(80))'."))
        }
        let isLegal = prefix.utf8.allSatisfy(Self.isLegalInTopics)
        if !isLegal || prefix.utf8.count > 200 {
            problems.append(
                Problem(
                    "kafka.prefix",
                    "\"\(prefix.prefix(80))\" cannot begin a topic's name: letters, digits, '.', '_' and '-' can, 200 at most."
                ))
        }
        if group.isEmpty {
            problems.append(
                Problem("kafka.group", "is empty: workers of one group share the work, so it needs a name."))
        }
        if !(1...1024).contains(partitions) {
            problems.append(Problem("kafka.partitions", "expected 1 to 1024, got \(partitions)."))
        }
        if security.usesSASL, security.user.isEmpty || security.password.isEmpty {
            problems.append(
                Problem(
                    "kafka.security.protocol",
                    "\(security.kind.rawValue) requires kafka.security.user and kafka.security.password."))
        }
        if security.certificate.isEmpty != security.key.isEmpty {
            let (said, other) = security.key.isEmpty ? ("certificate", "key") : ("key", "certificate")
            problems.append(
                Problem("kafka.security." + said, "requires kafka.security.\(other): set both or neither."))
        }
        return problems + fileProblems + optionProblems
    }

    private var fileProblems: [Problem] {
        let files = [
            ("authorities", security.authorities), ("certificate", security.certificate), ("key", security.key),
        ]
        return files.compactMap { name, path in
            if path.isEmpty || access(path, R_OK) == 0 { return nil }
            return Problem("kafka.security." + name, "cannot be read at \(path): \(String(cString: strerror(errno))).")
        }
    }

    /// Problems found by setting each option in librdkafka, which knows its names and ranges.
    private var optionProblems: [Problem] {
        guard let trial = rd_kafka_conf_new() else { return [] }
        defer { rd_kafka_conf_destroy(trial) }
        return options.sorted { $0.key < $1.key }.compactMap { name, value in
            if let reason = Self.reserved[name] { return Problem("kafka.options", "\(name) cannot be set: \(reason).") }
            let (outcome, text) = withErrorText { rd_kafka_conf_set(trial, name, value.revealed, $0, $1) }
            return switch outcome {
            case RD_KAFKA_CONF_OK: nil
            case RD_KAFKA_CONF_UNKNOWN:
                Problem("kafka.options", "\(name): librdkafka \(Self.libraryVersion) has no option of that name.")
            default: Problem("kafka.options", "\(name): \(withoutSecrets(text)).")
            }
        }
    }

    package static var hasSoundSCRAM: Bool { rd_kafka_version() >= 0x02_06_01_00 }
    static var libraryVersion: String { String(cString: rd_kafka_version_str()) }

    /// Whether the text is `host:port`, `192.0.2.1:9092` or `[2001:db8::1]:9092`. librdkafka would accept any text, and
    /// then wait.
    private static func isBroker(_ text: Substring) -> Bool {
        let text = text.drop { $0 == " " }
        guard let colon = text.lastIndex(of: ":") else { return false }
        let (host, port) = (text[..<colon], text[text.index(after: colon)...])
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]") && host.count > 2
        let isName = !host.isEmpty && host.utf8.allSatisfy(isLegalInTopics)
        return (isAddress || isName) && port.utf8.allSatisfy { (48..<58).contains($0) }
            && (UInt16(port).map { $0 > 0 } ?? false)
    }

    private static func isLegalInTopics(_ byte: UInt8) -> Bool {
        byte &- 48 < 10 || (byte | 0x20) &- 97 < 26 || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "-")
    }

    /// Options that would break the design, and options that have a setting of their own, with the reason.
    private static let reserved: [String: String] = {
        let offsets = "offsets are committed by the worker alone, or records are lost"
        let reset = "a new group takes every job, and a log that lost its place is read from its beginning"
        let assignor = "only range gives partitions whole, so that lanes stay together"
        let partitioner =
            "murmur2_random is part of the contract with producers: another sends one source to two owners"
        let durable = "an acknowledged append must be on every replica in sync, once and in order"
        let own = { (setting: String) in "use \(setting)" }
        return [
            "enable.auto.commit": offsets, "auto.commit.enable": offsets, "enable.auto.offset.store": offsets,
            "auto.offset.reset": reset, "enable.partition.eof": "a restore ends where the partition ends",
            "partition.assignment.strategy": assignor,
            "isolation.level": "jobs of an aborted transaction must not be done, and lag counts what open ones hide",
            "group.instance.id": "a static member's partitions idle until its session ends",
            "partitioner": partitioner, "enable.idempotence": durable, "acks": durable,
            "request.required.acks": durable,
            "transactional.id": "appends are ordered instead, which costs a hundredth",
            "log.queue": "logs come by events", "log_level": "use logging.level",
            "message.max.bytes": "topics are created to take \(recordBytes) bytes a record",
            "session.timeout.ms": own("kafka.timing"), "max.poll.interval.ms": own("kafka.timing"),
            "delivery.timeout.ms": own("kafka.timing"), "message.timeout.ms": own("kafka.timing"),
            "bootstrap.servers": own("kafka.bootstrap"), "metadata.broker.list": own("kafka.bootstrap"),
            "group.id": own("kafka.group"), "client.id": own("kafka.client"),
            "security.protocol": own("kafka.security.protocol"), "sasl.mechanisms": own("kafka.security.mechanism"),
            "sasl.mechanism": own("kafka.security.mechanism"), "sasl.username": own("kafka.security.user"),
            "sasl.password": own("kafka.security.password"), "ssl.ca.location": own("kafka.security.authorities"),
            "ssl.certificate.location": own("kafka.security.certificate"),
            "ssl.key.location": own("kafka.security.key"),
        ]
    }()
}

/// Calls C code that writes its error into a buffer.
func withErrorText<R>(_ body: (UnsafeMutablePointer<CChar>, Int) -> R) -> (R, String) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
        buffer.initialize(repeating: 0)
        let base = buffer.baseAddress!
        let result = body(base, buffer.count)
        return (result, String(cString: base))
    }
}

extension KafkaConfiguration.Security {
    /// Advice for a refused password that may be right.
    var hint: String {
        guard usesSASL, mechanism != .plain, !KafkaConfiguration.hasSoundSCRAM else { return "" }
        return " (librdkafka \(KafkaConfiguration.libraryVersion) cannot use SCRAM with Kafka 4.0 and newer: "
            + "use PLAIN over TLS there)"
    }
}

extension KafkaConfiguration {
    /// The largest record, key and headers included; topics are created to take it.
    package static let recordBytes = 2 << 20
    /// Range of valid offsets; 2²⁰ epochs for each are still below `RecordLimits.epochs`' end.
    static let offsets: ClosedRange<Int64> = 0...(1 << 41)
    /// Bytes that the broker adds to a batch of one record.
    static let batchOverhead = 1 << 10
}
