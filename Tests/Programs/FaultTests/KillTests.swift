import EmbeddedLog
import Foundation
import Glibc
import ImageModel
import Ports
import Records
import TestSupport
import TestWorkplace
import Testing

/// MEZZOTINT_KILLS says how often.
@Suite("kill -9 at random moments", .timeLimit(.minutes(60)))
struct KillTests {
    private static let kills = Effort.count("MEZZOTINT_KILLS", landing: 6, all: 12)
    private static let variants = ["48x48-q80.webp", "24y24-q80.jpg", "32x32.png", "20z20-q90.webp"]

    @Test("Of the worker: every job ends, in one way, repeats are few and agree, and every variant is there, whole")
    func worker() async throws {
        var random = SeededRandom(seed: 11)
        let place = try Workplace("fetch.concurrency=8", "store.originals.limit=0B")
        let origin = FickleOrigin(place, pictures: 40, side: 96)
        var published = 0
        var kills = 0
        while kills < Self.kills {
            // Always enough to do that a kill meets work.
            let jobs = (0..<24).map { _ in
                (
                    url: origin.urls.randomElement(using: &random)! + "?round=\(kills / 4)",
                    variants: [Self.variants.randomElement(using: &random)!],
                    lane: Bool.random(using: &random) ? Lane.fast : .slow
                )
            }
            try place.publish(jobs, id: "round\(kills)")
            published += jobs.count
            let worker = try place.worker()
            await worker.says("The worker runs")
            // A moment, not a meeting: wherever it lands in fetch, render, store, announce or commit.
            usleep(UInt32.random(in: 0...250_000, using: &random))
            worker.signal(SIGKILL)
            _ = try await worker.ended()
            kills += 1
        }
        try await place.work()

        let outcomes = try await origin.finalAnswers(in: place, of: published, disturbances: kills, underWay: 8)
        let rows = try await place.rows()
        let stored = Set(rows.map(\.location))
        for outcome in outcomes where outcome.kind.isSuccess {
            for variant in outcome.variants { #expect(variant.location.map(stored.contains) == true) }
        }
        print(
            "kill -9: \(kills) kills, \(published) jobs, \(outcomes.count) outcomes, \(rows.count) variants, "
                + "\(place.origin.requestCount) fetches")
    }

    @Test("Of the worker, originals kept: only what was in flight at a kill is fetched again, never what was announced")
    func fetches() async throws {
        var random = SeededRandom(seed: 12)
        let place = try Workplace("fetch.concurrency=4")
        let urls = place.draw(60)
        var announced: [String: Int] = [:]
        for round in 1...max(3, Self.kills / 4) {
            try place.publish(
                (0..<80).map { _ in
                    (
                        urls.randomElement(using: &random)!, [Self.variants.randomElement(using: &random)!],
                        Bool.random(using: &random) ? .fast : .slow
                    )
                }, id: "round\(round)")
            let worker = try place.worker()
            await worker.says("The worker runs")
            // The first one dies after it has announced something: on a busy machine all might die before.
            try await eventually { try await !Self.announced(place).isEmpty }
            usleep(UInt32.random(in: 0...300_000, using: &random))
            worker.signal(SIGKILL)
            _ = try await worker.ended()
            for path in try await Self.announced(place) {
                announced[path] = announced[path] ?? place.origin.requests(of: path)
            }
        }
        let summary = try await place.work()
        #expect(summary["dead"] == 0 && summary["failed"] == 0)
        #expect(!announced.isEmpty)
        for (path, count) in announced { #expect(place.origin.requests(of: path) == count, "\(path)") }
        _ = try await place.rows()
        print("kill -9, originals kept: \(place.origin.requestCount) fetches of \(urls.count) sources")
    }

    /// Paths of sources whose rows are in the log.
    private static func announced(_ place: Workplace) async throws -> [String] {
        try await place.records(.variants).compactMap {
            guard case .change(.source(let row)) = try ChangelogEntry($0) else { return nil }
            return URL(string: row.url)?.path
        }
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
        for number in 0..<Int32(log.partitionCount) {
            count += try await log.bounds(.jobsFast, PartitionID(number)).upperBound
        }
        return Int(count)
    }

    @Test("Of renderers in the middle of a job: the job loses an attempt, and is stored")
    func renderers() async throws {
        let place = try Workplace("render.processes=1")
        let gate = Gate()
        place.origin.serve("/gate.png", .gated(gate, .status(404)))
        let urls = place.draw(6, side: 600) + [place.origin.url("/gate.png")]
        try place.publish(urls.reversed().map { ($0, Self.variants, .fast) })
        let worker = try place.worker()
        await gate.arrivals(1)
        // Stopped first and given work, so that sooner or later it dies with a job in it; the gate keeps the worker going.
        var side = 60
        while worker.isRunning, !worker.errors.contains("render.crashed") {
            guard let child = Children.renderers(of: worker.pid).first else { continue }
            kill(child, SIGSTOP)
            side += 1
            try place.publish([(urls[0], ["\(side)x\(side).png"], .fast)], id: "more\(side)")
            usleep(50_000)
            kill(child, SIGKILL)
        }
        gate.open()
        let ended = try await worker.ended()
        let summary = try Summary(ended)
        #expect(ended.status == 0 && summary["dead"] == 0 && summary["failed"] == 1, "\(ended.errors)")
        let outcomes = try await place.outcomes()
        #expect(outcomes.contains { $0.attempts > 0 && $0.kind != .failed })
        #expect(
            Set(outcomes.filter { $0.kind == .stored || $0.kind == .reused }.map(\.job)).isSuperset(
                of: (1...6).map { "job-\($0)" }))
        _ = try await place.rows()
    }
}
