import EmbeddedLog
import ImageModel
import Partition
import Records
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("Jobs that wait in a retry topic", .timeLimit(.minutes(2)))
struct DelayedMemoryTests {
    @Test("Two hundred thousand of them are not taken up, and hold no other job back")
    func many() async throws {
        let bench = try Bench()
        bench.origin.serve(
            "/a.png", .bytes(Pixels.photograph(width: 40, height: 30, seed: 1).png, type: "image/png"))
        let log = try bench.log
        let waiting = (0..<50_000).map { _ in
            (0..<4).map { NewRecord(topic: .retry1h, partition: PartitionID($0), key: [1], value: [2]) }
        }.flatMap { $0 }
        for start in stride(from: 0, to: waiting.count, by: 20_000) {
            try await bench.append(Array(waiting[start...].prefix(20_000)), to: log)
        }
        try await bench.publish([(bench.url("/a.png"), ["16x16.png"], .fast)], to: log)
        let counters = try await bench.work(
            { $0.untilIdle = false }, log: log,
            watching: { worker in
                try? await eventually { await worker.counters.jobs == 1 }
                let figures = await worker.status
                // None of them was taken up.
                #expect(figures.unfinished[.retry1h] == 0)
                await worker.drain()
            })
        #expect(counters.jobs == 1)
        let left = try bench.log
        for number in 0..<4 { #expect(try await left.bounds(.retry1h, PartitionID(Int32(number))) == 0..<50_000) }
        await left.close()
    }
}
