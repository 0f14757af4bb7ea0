import Foundation
import Glibc
import ImageModel
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

/// What was finished ahead of a committable offset survives a clean stop: nothing is tried or answered again.
@Suite("Workers that are restarted while jobs fail", .timeLimit(.minutes(5)))
struct RestartTests {
    private static let jobs = 20
    private static let attempts = 5

    @Test(
        "Six restarts beside a failing origin: each source is asked as often as the rule says, each job answered once")
    func embedded() async throws {
        try await restarts(try Workplace("retry.attempts=\(Self.attempts)"))
    }

    @Test("The same on Kafka", .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
    func kafka() async throws {
        let broker = try await KafkaBroker.shared.value
        try await restarts(try await Workplace.onKafka(broker, partitions: 3, "retry.attempts=\(Self.attempts)"))
    }

    private func restarts(_ place: Workplace) async throws {
        let paths = (0..<Self.jobs).map { "/\($0).png" }
        for path in paths { place.origin.serve(path, .status(503)) }
        // One that waits all the time keeps its partition's offset where it is.
        let gate = Gate()
        place.origin.serve("/held.png", .gated(gate, .status(503)))
        try place.publish([(place.origin.url("/held.png"), ["32x32-q80.webp"], .fast)], id: "held")
        try place.publish(paths.map { (place.origin.url($0), ["32x32-q80.webp"], .fast) })
        for round in 1...6 {
            let worker = try place.worker("worker.drain=500ms", untilIdle: false)
            await worker.says("The worker runs")
            let enough = Self.jobs * Self.attempts * round / 7
            try await eventually { paths.reduce(0) { $0 + place.origin.requests(of: $1) } >= enough }
            worker.signal(SIGTERM)
            let ended = try await worker.ended()
            #expect(ended.status == 0, "\(ended.errors)")
        }
        gate.open()
        try await place.work()
        for path in paths { #expect(place.origin.requests(of: path) == Self.attempts, "\(path)") }
        let outcomes = try await place.outcomes().filter { $0.job.hasPrefix("job-") }
        #expect(outcomes.count == Self.jobs && Set(outcomes.map(\.job)).count == Self.jobs)
        #expect(outcomes.allSatisfy { $0.kind == .dead && $0.attempts == Self.attempts - 1 })
        #expect(try await place.records(.dead).count == Self.jobs + 1)
    }
}
