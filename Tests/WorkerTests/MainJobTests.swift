import Foundation
import ImageModel
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("The main job, end to end, on real adapters", .timeLimit(.minutes(3)))
struct MainJobTests {
    private let bench: Bench

    init() throws {
        bench = try Bench()
        let photo = Pixels.photograph(width: 800, height: 600, seed: 1)
        bench.origin.serve("/a.png", .bytes(photo.png, type: "image/png"))
    }

    @Test("One URL is fetched once, rendered, stored and answered; the same job again does nothing")
    func thread() async throws {
        let log = try bench.log
        try await bench.publish([(bench.url("/a.png"), ["320x320-q80.webp", "64y64-q80.jpg"], .fast)], to: log)
        let tally = try await bench.work(log: log)
        #expect(tally.jobs == 1 && tally.stored == 2 && tally.fetches == 1 && tally.renders == 2)
        let outcome = try #require(try await bench.outcomes().first)
        #expect(outcome.kind == .stored)

        let again = try bench.log
        try await bench.publish([(bench.url("/a.png"), ["320x320-q80.webp", "64y64-q80.jpg"], .slow)], to: again)
        let second = try await bench.work(log: again)
        #expect(second.jobs == 1 && second.unchanged == 2 && second.fetches == 0 && second.renders == 0)
        #expect(bench.origin.requestCount == 1)
    }
}
