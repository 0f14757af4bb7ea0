import EmbeddedLog
import ImageModel
import Ports
import Synchronization
import TestPixels
import TestSupport
import Testing

@Suite("A partition that goes and comes back to the same worker", .timeLimit(.minutes(2)))
struct ReturningTests {
    @Test("Answers that were refused meanwhile are not given in the new ownership, which gives its own")
    func answers() async throws {
        let bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        let log = try bench.log
        try await bench.publish([(url: bench.url("/a.png"), variants: ["32x32.png"], lane: .fast)], to: log)
        let partition = try bench.rules.source(of: bench.url("/a.png")).key.partition(of: log.partitionCount)
        let once = Mutex<MovingLog?>(nil)
        let moving = MovingLog(log) { records in
            guard records.contains(where: { $0.topic == .outcomes }) else { return nil }
            // Once: what comes after it is appended.
            guard let moving = once.withLock({ $0.take() }) else { return nil }
            await #expect(throws: Never.self) { try await moving.moveAndReturn(partition, epoch: 1_000) }
            return .unavailable(reason: "the leader went")
        }
        once.withLock { $0 = moving }
        try await bench.work(log: log, moving: moving)
        #expect(try await bench.outcomes().count == 1)
    }
}
