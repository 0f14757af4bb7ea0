import Foundation
import KafkaLog
import KafkaSetup
import TestSupport
import TestWorkplace
import Testing

/// The real programs on a real broker, with topics of a test's own.
@Suite(
    "The programs on a real Kafka", .serialized, .timeLimit(.minutes(4)),
    .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
struct ClusterTests {}

struct Cluster {
    static let partitions = 6
    let broker: KafkaBroker
    let place: Workplace
    let configuration: KafkaConfiguration

    init(_ more: String..., creating: Bool = true) async throws {
        broker = try await KafkaBroker.shared.value
        var configuration = KafkaConfiguration()
        configuration.bootstrap = broker.bootstrap
        configuration.prefix = "c\(UInt32.random(in: 0 ... .max))."
        configuration.group = configuration.prefix + "workers"
        configuration.timing.response = .seconds(30)
        self.configuration = configuration
        let settings = [
            "kafka.bootstrap=\(configuration.bootstrap)", "kafka.prefix=\(configuration.prefix)",
            "kafka.group=\(configuration.group)", "kafka.partitions=\(Self.partitions)", "kafka.timing.session=6s",
            "kafka.timing.response=30s", "render.processes=1",
        ]
        place = try Workplace(settings + more, kafka: configuration)
        guard creating else { return }
        let made = try place.run("topics", "create")
        #expect(made.status == 0, "\(made.errors)")
    }

    /// A worker that owns partitions: some lag of its group is said to be its own.
    func worker(named name: String, _ more: String..., untilIdle: Bool = false) throws -> RunningProgram {
        try place.worker(["kafka.client=\(name)"] + more, untilIdle: untilIdle)
    }

    /// Until each of these owns something, and together they own everything.
    func owned(by names: Set<String>) async throws {
        try await eventually {
            let owners = try lags().map { $0["owner"] as? String }
            return !owners.contains(nil)
                && Set(owners.compactMap { $0?.split(separator: "@").first.map(String.init) }) == names
        }
    }

    /// Until nothing waits any more.
    func done() async throws {
        try await eventually { try lags().allSatisfy { $0["records"] as? Int == 0 } }
    }

    func lags() throws -> [[String: Any]] { try array("lag") }
    /// Number of rows of `lag` but those of `parked`, which it has only of partitions with an owner.
    func unparkedLags() throws -> Int { try lags().count { $0["topic"] as? String != "parked" } }

    func array(_ words: String...) throws -> [[String: Any]] {
        let ended = try place.run(words + ["--json"])
        #expect(ended.status == 0, "\(ended.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [[String: Any]])
    }
}
