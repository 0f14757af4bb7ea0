import EmbeddedLog
import KafkaLog
import KafkaSetup
import Ports
import Synchronization
import TestSupport
import Testing

/// An adapter of the log's ports, as the contract suite uses it. Kafka's joins where a broker stands.
struct LogBench: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// A log, new for each name, opened anew at every call: what one process has of it.
    let open: @Sendable (_ name: String) async throws -> (log: any Log, consumer: any LogConsumer)

    static let all: [LogBench] = [embedded] + (KafkaBroker.isHere ? [kafka] : [])

    static var embedded: LogBench {
        let folder = Mutex<TemporaryFolder?>(nil)
        return LogBench(testDescription: "the embedded log") { name in
            let path = try folder.withLock { folder in
                if folder == nil { folder = try TemporaryFolder() }
                return folder!.file(name)
            }
            let log = try EmbeddedLog(path)
            return (log, EmbeddedLogConsumer(log))
        }
    }

    /// Topics of each name's own, on the one broker of all tests.
    static var kafka: LogBench {
        let run = String(UInt32.random(in: 0 ... .max), radix: 36)
        let made = TopicsOnce()
        return LogBench(testDescription: "Kafka") { name in
            var configuration = KafkaConfiguration()
            configuration.bootstrap = try await KafkaBroker.shared.value.bootstrap
            configuration.prefix = "contract-\(run).\(name)."
            // Many topics at once on a broker that has just begun.
            configuration.timing.response = .seconds(30)
            configuration.group = "contract-\(run).\(name)"
            try await made.make(configuration)
            let log = try await KafkaLog.open(configuration)
            return (log, KafkaLogConsumer(log))
        }
    }
}

/// Makes the topics of a name when it is opened first.
private actor TopicsOnce {
    private var made: [String: Task<[String], any Error>] = [:]

    func make(_ configuration: KafkaConfiguration) async throws {
        let task = made[configuration.prefix] ?? Task {
            try await KafkaTopics.create(configuration, partitions: 6, replication: 1).problems
        }
        made[configuration.prefix] = task
        let problems = try await task.value
        #expect(problems.isEmpty)
    }
}

@Suite("Log: adapters that the contract ran over")
struct LogBenchTests {
    @Test(
        "The contract runs over Kafka too",
        .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
    func kafkaIsHere() { #expect(LogBench.all.count == 2) }
}
