import Canonical
import EmbeddedLog
import ImageModel
import Ports
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("A partition whose changelog takes nothing", .timeLimit(.minutes(2)))
struct AwayTests {
    /// URLs of pictures whose sources are of one partition, or of others.
    private func urls(_ bench: Bench, _ log: EmbeddedLog, _ count: Int, of partition: PartitionID, _ isOf: Bool) throws
        -> [String]
    {
        var urls: [String] = []
        let picture = LocalOrigin.Answer.bytes(
            Pixels.photograph(width: 40, height: 30, seed: 1).png, type: "image/png")
        for number in 0... {
            let path = "/\(number).png"
            let owner = try bench.rules.source(of: bench.url(path)).key.partition(of: log.partitionCount)
            guard (owner == partition) == isOf else { continue }
            bench.origin.serve(path, picture)
            urls.append(bench.url(path))
            if urls.count == count { break }
        }
        return urls
    }

    @Test("Jobs of other partitions are stored meanwhile; its own are, once it takes rows again")
    func others() async throws {
        let bench = try Bench()
        let log = try bench.log
        let away = PartitionID(1)
        // More than flights may ever be stored at once, and older than the others' jobs.
        let stuck = try urls(bench, log, 160, of: away, true)
        let well = try urls(bench, log, 40, of: away, false)
        for urls in [stuck, well] {
            try await bench.publish(urls.map { (url: $0, variants: ["16x16.png"], lane: .fast) }, to: log)
        }
        let gate = Gate()
        let refused = Mutex(0)
        let moving = MovingLog(log) { records in
            let isRow = records.contains {
                // The mark, and what it says of the store, were taken before.
                $0.topic == .variants && $0.partition == away
                    && ![.epoch(away), .progress(away)].contains(RecordKey($0.key))
            }
            guard isRow, gate.isClosed else { return nil }
            refused.withLock { $0 += 1 }
            await gate.wait()
            return .unavailable(reason: "the leader of the partition is away")
        }
        let watch: @Sendable (Worker) async -> Void = { worker in
            // None of these would come before the gate opens, were they behind those of the partition that is away.
            try? await eventually { await worker.counters.jobs >= well.count }
            #expect(await worker.counters.jobs == well.count)
            gate.open()
        }
        let counters = try await bench.work(log: log, moving: moving, watching: watch)
        #expect(counters.jobs == 200 && counters.stored == 200 && counters.dead == 0 && counters.failed == 0)
        // No more were on their way there at once, but for the two that were rendered when there were so many.
        let stuckAtOnce = refused.withLock { $0 }
        #expect((32...34).contains(stuckAtOnce))
        #expect(counters.failures == ["log.unavailable": stuckAtOnce])
        let outcomes = try await bench.outcomes()
        #expect(Set(outcomes.map(\.job)).count == 200 && outcomes.allSatisfy { $0.kind == .stored })
    }
}
