import Foundation
import Glibc
import TestSupport
import TestWorkplace
import Testing

@Suite("A worker that starts before its brokers", .timeLimit(.minutes(1)))
struct WaitingWorkerTests {
    /// No broker listens on port 1, which needs a privilege.
    private static let away = [
        "kafka.bootstrap=127.0.0.1:1", "kafka.timing.response=100ms", "metrics.listen=127.0.0.1:0",
        "logging.level=debug",
    ]

    @Test(
        "Waits, reports why in one line, in its readiness and in its metrics, and ends with status 0 when it is stopped"
    )
    func waiting() async throws {
        let place = try Workplace()
        let worker = try place.worker(Self.away, untilIdle: false)
        await worker.says("The log does not respond yet.", times: 2)
        #expect(worker.errors.components(separatedBy: "The worker waits for the log.").count == 2, "\(worker.errors)")
        let address = try await worker.metricsAddress()
        let ready = try await Asked(address + "/readyz")
        #expect(ready.status == 503)
        #expect(
            ready.text.hasPrefix(
                "The worker takes no jobs: it waits for the log. The job log is unavailable: cannot connect to Kafka at 127.0.0.1:1: connection refused. "
            ))
        #expect(try await Asked(address + "/healthz").status == 200)
        let metrics = try Exposition(try await Asked(address + "/metrics").text)
        #expect(try metrics.value("mezzotint_log_connected") == 0)
        #expect(try metrics.value("mezzotint_partitions_owned") == 0)
        worker.signal(SIGTERM)
        #expect(try await worker.ended().status == 0)
    }

    @Test("Does not wait when it is to run until idle: it ends with the reason")
    func untilIdle() async throws {
        let ended = try await Workplace().worker(Self.away, untilIdle: true).ended()
        #expect(ended.status == 1)
        #expect(
            ended.errors.contains(
                "mezzotint-worker: The job log is unavailable: cannot connect to Kafka at 127.0.0.1:1: connection refused. "
            ),
            "\(ended.errors)")
    }
}
