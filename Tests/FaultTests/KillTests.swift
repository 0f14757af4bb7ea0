import EmbeddedLog
import Foundation
import Glibc
import ImageModel
import Ports
import TestSupport
import Testing

/// MEZZOTINT_KILLS says how often; the default is for every run of the tests.
@Suite("kill -9 at random moments", .timeLimit(.minutes(60)))
struct KillTests {
    private static let kills = ProcessInfo.processInfo.environment["MEZZOTINT_KILLS"].flatMap { Int($0) } ?? 12
    private static let variants = ["48x48-q80.webp", "24y24-q80.jpg", "32x32.png", "20z20-q90.webp"]

    @Test("Of the worker: every job ends with an outcome, repeats agree, and every variant is there, whole")
    func worker() async throws {
        var random = SeededRandom(seed: 11)
        let place = try Workplace("fetch.concurrency=8", "store.originals.limit=0B")
        let urls = place.draw(40)
        var published = 0
        var kills = 0
        var inFlight = 0
        while kills < Self.kills {
            // Always enough to do that a kill meets work.
            let jobs = (0..<24).map { _ in
                (url: urls.randomElement(using: &random)! + "?round=\(kills / 4)",
                    variants: [Self.variants.randomElement(using: &random)!], lane: Bool.random(using: &random) ? Lane.fast : .slow)
            }
            try place.publish(jobs, id: "round\(kills)")
            published += jobs.count
            let asked = place.origin.requestCount
            let worker = try place.worker()
            await worker.says("The worker runs")
            // A moment, not a meeting: wherever it lands in fetch, render, store, announce or commit.
            usleep(UInt32.random(in: 0...250_000, using: &random))
            worker.signal(SIGKILL)
            #expect(try await worker.ended().status == 128 + SIGKILL || !worker.isRunning)
            kills += 1
            inFlight += min(8, place.origin.requestCount - asked)
        }
        try await place.work()

        let outcomes = try await place.outcomes()
        #expect(Set(outcomes.map(\.job)).count == published)
        for (job, told) in Dictionary(grouping: outcomes, by: \.job) {
            #expect(told.allSatisfy { [.stored, .reused, .unchanged].contains($0.kind) }, "\(job): \(told.map(\.kind))")
            #expect(Set(told.map { $0.variants.map(\.location) }).count == 1, "\(job)")
        }
        let rows = try await place.rows()
        let stored = Set(rows.map(\.location))
        for outcome in outcomes {
            for variant in outcome.variants { #expect(variant.location.map(stored.contains) == true) }
        }
        print("kill -9: \(kills) kills, \(published) jobs, \(outcomes.count) outcomes, \(rows.count) variants, "
            + "\(place.origin.requestCount) fetches")
    }

    @Test("Of the worker, originals kept: no more fetches than sources and what was in flight at the kills")
    func fetches() async throws {
        var random = SeededRandom(seed: 12)
        let place = try Workplace("fetch.concurrency=4")
        let urls = place.draw(60)
        var inFlight = 0
        for round in 0..<max(3, Self.kills / 4) {
            try place.publish(
                (0..<80).map { _ in
                    (urls.randomElement(using: &random)!, [Self.variants.randomElement(using: &random)!],
                        Bool.random(using: &random) ? .fast : .slow)
                }, id: "round\(round)")
            let worker = try place.worker()
            await worker.says("The worker runs")
            usleep(UInt32.random(in: 0...300_000, using: &random))
            worker.signal(SIGKILL)
            _ = try await worker.ended()
            // Fetched and not announced: fetch permits, and what waits for or holds one of the render permits.
            inFlight += 4 + 60
        }
        let before = place.origin.requestCount
        let summary = try await place.work()
        #expect(summary["dead"] == 0 && summary["failed"] == 0)
        #expect(place.origin.requestCount <= urls.count + inFlight)
        #expect(place.origin.requestCount - before <= urls.count)
        _ = try await place.rows()
    }

    @Test("Of a publisher: what it acknowledged is all there")
    func publisher() async throws {
        var random = SeededRandom(seed: 13)
        let place = try Workplace()
        for round in 0..<max(3, Self.kills / 3) {
            let log = try place.log
            let before = try await Self.count(log)
            await log.close()
            // Writes for ever, so that the kill meets it in the middle; each batch says how much was acknowledged.
            let publisher = try RunningProgram(
                "/bin/sh",
                [
                    "-c",
                    "i=0; while :; do seq -f \"http://a.example/\(round)-$i-%g.jpg\" 200 | \(Built.program("mezzotint").path) "
                        + "publish --set data=data --variants 10x10.png - >&2; i=$((i+1)); done",
                ], in: place.folder.url)
            await publisher.says("Accepted", times: Int.random(in: 1...4, using: &random))
            for child in Children.of(publisher.pid) { kill(child, SIGKILL) }
            publisher.signal(SIGKILL)
            let ended = try await publisher.ended()
            let acknowledged = 200 * (ended.errors.components(separatedBy: "Accepted 200, rejected 0.").count - 1)
            let after = try place.log
            let there = try await Self.count(after) - before
            await after.close()
            #expect(acknowledged > 0 && there >= acknowledged, "\(there) of \(acknowledged)")
        }
    }

    private static func count(_ log: some Log) async throws -> Int {
        var count: Int64 = 0
        for number in 0..<Int32(log.partitionCount) { count += try await log.bounds(.jobsFast, PartitionID(number)).upperBound }
        return Int(count)
    }

    @Test("Of renderers in the middle of a job: the job loses an attempt, and is stored")
    func renderers() async throws {
        let place = try Workplace("render.processes=1", "retry.attempts=20")
        let gate = Gate()
        let urls = place.draw(6, side: 900)
        place.origin.serve("/0.png", .gated(gate, .status(404)))
        try place.publish(urls.map { ($0, Self.variants, .fast) })
        let worker = try place.worker()
        await gate.arrivals(1)
        // Stopped, so that a job is surely in it when it dies.
        for _ in 0..<3 {
            guard let child = Children.of(worker.pid).first else { continue }
            kill(child, SIGSTOP)
            usleep(100_000)
            kill(child, SIGKILL)
        }
        gate.open()
        let ended = try await worker.ended()
        let summary = try Summary(ended)
        #expect(ended.status == 0 && summary["jobs"] == 6 && summary["dead"] == 0 && summary["failed"] == 1, "\(ended.errors)")
        #expect(try await place.rows().count == 20)
    }
}
