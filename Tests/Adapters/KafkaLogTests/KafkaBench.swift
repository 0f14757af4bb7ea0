import Foundation
import KafkaLog
import KafkaSetup
import Ports
import Records
import TestSupport
import Testing

/// Everything that needs a real broker, one test after another: two cores carry the broker too.
@Suite(
    "Kafka: on a real broker", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
struct KafkaTests {}

/// Topics of a test's own.
struct KafkaBench {
    static let partitions = 6
    let broker: KafkaBroker
    let configuration: KafkaConfiguration

    init(
        on broker: KafkaBroker? = nil, partitions: Int = partitions,
        _ change: (inout KafkaConfiguration) -> Void = { _ in }
    ) async throws {
        self.broker = if let broker { broker } else { try await KafkaBroker.shared.value }
        var configuration = KafkaConfiguration()
        configuration.bootstrap = self.broker.bootstrap
        configuration.prefix = "t\(UInt32.random(in: 0 ... .max))."
        configuration.group = configuration.prefix + "workers"
        configuration.timing.response = .seconds(30)
        change(&configuration)
        self.configuration = configuration
        #expect(try await KafkaTopics.create(configuration, partitions: partitions, replication: 1).problems == [])
    }

    func log(
        _ notice: @escaping @Sendable (String) -> Void = { _ in }, detail: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> KafkaLog {
        try await KafkaLog.open(configuration, notice: notice, detail: detail)
    }

    func worker() async throws -> (log: KafkaLog, owner: Owner) {
        let log = try await log()
        return (log, Owner(KafkaLogConsumer(log)))
    }
}

extension NewRecord {
    static func text(_ topic: Topic, _ partition: Int32, _ text: String, key: String = "k") -> NewRecord {
        NewRecord(topic: topic, partition: PartitionID(partition), key: Array(key.utf8), value: Array(text.utf8))
    }
}

extension Record {
    var text: String { value.map { String(decoding: $0, as: UTF8.self) } ?? "tombstone" }
}

extension [RecordingListener.Event] {
    /// What is owned after these.
    var held: Set<PartitionID> {
        reduce(into: []) { held, event in
            switch event {
            case .assigned(let partition, _, _): held.insert(partition)
            case .revoked(let partition), .lost(let partition): held.remove(partition)
            case .readable, .halted, .failed: break
            }
        }
    }

    func epochs(of partition: PartitionID) -> [Int64] {
        compactMap { if case .assigned(partition, let epoch, _) = $0 { epoch } else { nil } }
    }
}

extension Owner {
    func own(_ count: Int) async { await listener.until { $0.held.count == count } }

    /// Gives up in good order what was revoked after the first `heard` events.
    func releaseAll(after heard: Int, count: Int) async {
        await listener.until { $0.dropFirst(heard).filter { if case .revoked = $0 { true } else { false } }.count == count }
        for event in listener.all.dropFirst(heard) { if case .revoked(let partition) = event { release(partition) } }
    }
}
