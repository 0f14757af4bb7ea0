import Canonical
import Clocks
import EmbeddedLog
import Foundation
import ImageModel
import Jobs
import Partition
import Records
import TestPixels
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

@Suite("A worker that takes signed jobs alone", .timeLimit(.minutes(1)))
struct SignedJobTests {
    private let keys = JobKeys(["k": Array("0123456789abcdef".utf8)], signing: "k")!
    private let bench: Bench

    init() throws {
        bench = try Bench()
        for path in ["/good.png", "/down.png", "/bad.png"] {
            bench.origin.serve(path, .bytes(Pixels.photograph(width: 40, height: 30, seed: 1).png, type: "image/png"))
        }
    }

    private func job(_ path: String, _ id: String, variants: [String] = ["16x16.png"]) throws -> Job {
        try Intake(rules: bench.rules).job(
            url: bench.url(path), variants: variants.map { try bench.rules.spec(of: $0) }, id: id, lane: .fast)
    }

    private func work(_ records: [NewRecord], retry: Duration = 20) async throws -> [String: OutcomeReport] {
        let log = try bench.log
        try await bench.append(records, to: log)
        try await bench.work(
            {
                $0.keys = keys
                $0.partition.retry = RetryPolicy(attempts: 3, base: retry, cap: retry)
            }, log: log)
        return Dictionary(try await bench.outcomes().map { ($0.job, $0) }) { first, _ in first }
    }

    @Test("A signed job is done, and so is one that came under a foreign key; what is not signed is never fetched")
    func taken() async throws {
        let good = try job("/good.png", "good").newRecord(partitions: 4, at: 0, signedBy: keys)
        var moved = try job("/good.png", "moved", variants: ["20x20.png"]).newRecord(
            partitions: 4, at: 0, signedBy: keys)
        (moved.key, moved.partition) = ([], PartitionID((moved.partition.number + 1) % 4))
        let plain = try job("/bad.png", "plain").newRecord(partitions: 4, at: 0)
        var changed = try job("/good.png", "changed").newRecord(partitions: 4, at: 0, signedBy: keys)
        changed.value = try job("/bad.png", "changed").body
        // Made up under the id of a job that is good.
        let double = try job("/bad.png", "good").newRecord(partitions: 4, at: 0)
        var noJob = plain
        noJob.value = Array("{".utf8)
        let outcomes = try await work([double, plain, changed, noJob, good, moved])
        #expect(
            outcomes["good"]?.kind == .stored
                && outcomes["moved"].map { $0.kind == .stored || $0.kind == .reused } == true)
        #expect(bench.origin.requests(of: "/bad.png") == 0 && outcomes.count == 6)
        let dead = outcomes.values.filter { $0.kind == .dead }
        #expect(dead.allSatisfy { $0.job.hasPrefix("jobs.fast-") })
        #expect(
            dead.compactMap(\.failure?.code).sorted() == ["job.forged", "job.unsigned", "job.unsigned", "job.unsigned"])
    }

    @Test("What workers owe is signed as they take it, and is done", .timeLimit(.minutes(1)))
    func owed() async throws {
        bench.origin.serve(
            "/good.png",
            .tagged(
                Pixels.photograph(width: 40, height: 30, seed: 1).png, type: "image/png", tag: "\"1\"",
                headers: [("Cache-Control", "max-age=0")]), .status(503))
        _ = try await work([try job("/good.png", "first").newRecord(partitions: 4, at: 0, signedBy: keys)])
        let second = try job("/good.png", "second")
        let log = try bench.log
        try await bench.append([second.newRecord(partitions: 4, at: 0, signedBy: keys)], to: log)
        try await bench.work(
            { $0.keys = keys }, log: log,
            watching: { worker in
                try? await eventually { await worker.counters.stale == 1 }
                await worker.drain()
            })
        let pendingRefreshes = try await bench.parkedRecords()
        #expect(
            pendingRefreshes.count == 1
                && pendingRefreshes.first?.header("ce_id")?.hasPrefix(Job.staleRefreshPrefix) == true)
        for pendingRefresh in pendingRefreshes {
            try keys.check(pendingRefresh)
            var forged = pendingRefresh
            forged.value = second.body + [0x20]
            #expect(throws: JobFailure.self) { try keys.check(forged) }
        }
    }

    @Test("A parked job is still signed", .timeLimit(.minutes(1)))
    func retried() async throws {
        bench.origin.serve("/down.png", .status(503))
        let log = try bench.log
        try await bench.append([try job("/down.png", "down").newRecord(partitions: 4, at: 0, signedBy: keys)], to: log)
        try await bench.work(
            {
                $0.keys = keys
                $0.partition.retry = RetryPolicy(attempts: 3, base: 600_000, cap: 600_000)
                $0.untilIdle = false
            }, log: log,
            watching: { worker in
                while true {
                    let status = await worker.status
                    if status.parked.values.contains(where: { $0.jobs == 1 }) { break }
                    await Task.yield()
                }
                await worker.drain()
            })
        let rows = try await bench.parkedRecords()
        #expect(rows.count == 1)
        for row in rows { try keys.check(row) }
    }
}
