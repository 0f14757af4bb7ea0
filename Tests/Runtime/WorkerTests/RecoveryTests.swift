import EmbeddedLog
import Foundation
import ImageModel
import Ports
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("An owner that is killed when its answers are in the log", .timeLimit(.minutes(2)))
struct RecoveryTests {
    /// The worker dies as soon as all answers are durable, before it hears so of the last.
    private func die(at bench: Bench, jobs: [String], answers topic: Topic) async throws {
        let log = try bench.log
        try await bench.publish(
            jobs.map { (url: bench.url($0), variants: ["32x32.png"], lane: Lane.fast) }, to: log)
        let worker = Mutex<MovingLog?>(nil)
        let left = Mutex(jobs.count)
        let moving = MovingLog(log) { records in
            let count = records.count { $0.topic == topic }
            guard count > 0 else { return nil }
            let isLast = left.withLock { left in
                left -= count
                return left == 0
            }
            guard isLast else { return nil }
            _ = await log.append(records)
            await worker.withLock { $0 }?.kill()
            return .closed
        }
        worker.withLock { $0 = moving }
        await #expect(throws: LogFailure.closed) { try await bench.work(log: log, moving: moving) }
    }

    @Test("Leaves nothing to be done again, and its next owner's progress row tells of all", arguments: [1, 12])
    func stored(count: Int) async throws {
        let bench = try Bench()
        let paths = (0..<count).map { "/\($0).png" }
        for (seed, path) in paths.enumerated() {
            let picture = Pixels.photograph(width: 90, height: 60, seed: UInt64(seed)).png
            bench.origin.serve(path, .bytes(picture, type: "image/png"))
        }
        try await die(at: bench, jobs: paths, answers: .outcomes)
        #expect(try await bench.outcomes().count == count)
        // The next one, and one after it that has the row alone to go by.
        for _ in 0..<2 {
            let counters = try await bench.work()
            #expect(counters.requests == 0 && counters.jobs == 0)
        }
        let outcomes = try await bench.outcomes()
        #expect(outcomes.count == count && Set(outcomes.map(\.job)).count == count)
        let log = try bench.log
        let left = try await log.partitionOffsets([.jobsFast], log.partitions).reduce(0) { $0 + $1.records }
        await log.close()
        #expect(left == 0)
    }

    @Test("Leaves dead letters, too: none is written twice")
    func dead() async throws {
        let bench = try Bench()
        bench.origin.serve("/a.png", .status(503))
        try await die(at: bench, jobs: ["/a.png"], answers: .outcomes)
        let counters = try await bench.work()
        #expect(counters.jobs == 0 && bench.origin.requestCount == 3)
    }
}
