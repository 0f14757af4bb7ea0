import Failures
import KafkaSetup
import Ports
import Testing

@testable import KafkaLog

@Suite("Kafka: configuration", .timeLimit(.minutes(1)))
struct KafkaConfigurationTests {
    @Test(
        "The defaults have no problem, nor has what passes through",
        arguments: [
            [:], ["linger.ms": "2", "broker.address.family": "v4"], ["sasl.kerberos.service.name": "kafka"],
        ])
    func sound(options: [String: String]) {
        var configuration = KafkaConfiguration.test { _ in }
        configuration.options = options.mapValues { Secret($0) }
        #expect(configuration.problems == [])
    }

    @Test(
        "Each client learns within half a minute what its first look at the topics missed",
        arguments: [ClientKind.producer, .member, .patient, .questions, .reader, .sampler])
    func refresh(kind: ClientKind) {
        let options = KafkaConfiguration.test { _ in }.clientOptions(kind)
        #expect(options.last { $0.name == "topic.metadata.refresh.interval.ms" }?.value == "30000")
    }

    @Test(
        "librdkafka takes each client's options, which it looks at together",
        arguments: [ClientKind.producer, .member, .patient, .questions, .reader, .sampler])
    func taken(kind: ClientKind) {
        #expect(throws: Never.self) { try KafkaClient(KafkaConfiguration.test { _ in }, kind) }
    }

    @Test("Every problem is named at once, with its setting")
    func problems() {
        var configuration = KafkaConfiguration()
        configuration.bootstrap = ""
        configuration.prefix = "a/b"
        configuration.group = ""
        configuration.partitions = 0
        configuration.security.kind = .saslTLS
        configuration.security.key = "key.pem"
        configuration.options = [
            "enable.auto.commit": "true", "partition.assignment.strategy": "cooperative-sticky",
            "partitioner": "random",
            "enable.idempotence": "false", "linger.mss": "2", "linger.ms": "soon", "group.id": "g",
        ]
        let names = [
            "kafka.bootstrap", "kafka.prefix", "kafka.group", "kafka.partitions", "kafka.security.protocol",
            "kafka.security.key", "kafka.security.key", "kafka.options enable.auto.commit",
            "kafka.options enable.idempotence",
            "kafka.options group.id", "kafka.options linger.ms", "kafka.options linger.mss",
            "kafka.options partition.assignment.strategy", "kafka.options partitioner",
        ]
        let problems = configuration.problems
        #expect(problems.count == names.count)
        for (problem, name) in zip(problems, names) { #expect(problem.description.hasPrefix(name), "\(problem)") }
    }

    @Test(
        "Brokers are named by host and port",
        arguments: [
            ("kafka-1.example:9092", true), ("127.0.0.1:1,[2001:db8::1]:65535", true), ("a:9092, b:9092,", true),
            ("nohost", false), ("h:99999", false), ("h:0", false), ("h:+1", false), (":9092", false),
            ("a:9092,b", false),
            ("2001:db8::1:9092", false), ("http://h:9092", false), ("a b:9092", false),
        ])
    func brokers(bootstrap: String, isSound: Bool) {
        var configuration = KafkaConfiguration()
        configuration.bootstrap = bootstrap
        #expect(configuration.problems.map(\.key) == (isSound ? [] : ["kafka.bootstrap"]))
    }

    static let silent = KafkaConfiguration.test { $0.bootstrap = "127.0.0.1:1" }
    static let misspelt = KafkaConfiguration.test { $0.options = ["no.such": "1"] }
    static let withoutAuthorities = KafkaConfiguration.test {
        $0.security.kind = .tls
        $0.security.authorities = "/nonexistent/ca.pem"
    }

    @Test(
        "What cannot be opened says why",
        arguments: [
            (silent, "log.unavailable", "127.0.0.1:1"), (misspelt, "log.misconfigured", "no.such"),
            (withoutAuthorities, "log.misconfigured", "kafka.security.authorities"),
        ])
    func unopened(configuration: KafkaConfiguration, code: String, named: String) async {
        do {
            let log = try await KafkaLog.open(configuration)
            Issue.record("it was opened: \(log)")
        } catch {
            #expect(error.code == code)
            #expect(error.description.contains(named), "\(error)")
        }
    }
}

extension KafkaConfiguration {
    static func test(_ change: (inout KafkaConfiguration) -> Void) -> KafkaConfiguration {
        var configuration = KafkaConfiguration()
        configuration.bootstrap = "127.0.0.1:9092"
        configuration.timing.response = .milliseconds(500)
        change(&configuration)
        return configuration
    }
}
