import Canonical
import Clocks
import EmbeddedLog
import Foundation
import ImageModel
import Records
import TestPixels
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

@Suite("Sources that are asked for again", .timeLimit(.minutes(2)))
struct RenewalTests {
    private let bench: Bench
    private let specs = ["96x96-q80.webp", "64y64-q80.jpg", "32x32.png"]
    private static let count = 39

    init() throws { bench = try Bench() }

    private func picture(_ seed: UInt64) -> [UInt8] { Pixels.photograph(width: 160, height: 120, seed: seed).png }

    private func answer(_ bytes: [UInt8], _ age: Int) -> LocalOrigin.Answer {
        .tagged(
            bytes, type: "image/png", tag: "\"\(bytes.hashValue)\"", headers: [("Cache-Control", "max-age=\(age)")])
    }

    /// At first it is not fresh for a moment, then for an hour.
    private func serve(_ number: Int, _ first: [UInt8], then second: [UInt8]) {
        bench.origin.serve("/\(number).png", answer(first, 0), answer(second, 3600))
    }

    private func serve(_ number: Int, _ bytes: [UInt8]) {
        bench.origin.serve("/\(number).png", answer(bytes, 3600))
    }

    private func run() async throws -> Counters {
        let log = try bench.log
        try await bench.publish((0..<Self.count).map { (bench.url("/\($0).png"), specs, .slow) }, to: log)
        return try await bench.work(log: log)
    }

    private func rows(_ number: Int) async throws -> (source: SourceRow?, variants: [VariantSpec: VariantRow]) {
        let key = try bench.rules.source(of: bench.url("/\(number).png")).key
        return (try await bench.sourceRow(of: key), try await bench.rows(of: key))
    }

    @Test("Nothing has changed: a request for each, no body, no render, and every row is renewed")
    func unchanged() async throws {
        for number in 0..<Self.count { serve(number, picture(UInt64(number)), then: picture(UInt64(number))) }
        let first = try await run()
        #expect(first.stored == 3 * Self.count && first.notModified == 0)
        let before = try await rows(7)
        let second = try await run()
        #expect(second.jobs == Self.count && second.unchanged == 3 * Self.count)
        #expect(second.notModified == Self.count && second.fetchedBytes == 0 && second.renders == 0)
        #expect(bench.origin.requestCount == 2 * Self.count)
        for number in 0..<Self.count {
            let (source, variants) = try await rows(number)
            let expires = try #require(source?.expires)
            #expect(variants.count == 3 && variants.values.allSatisfy { $0.expires == expires })
            #expect(expires - (source?.fetchedAt ?? 0) > 3_500_000)
        }
        #expect(try await rows(7).source?.original == before.source?.original)
        let third = try await run()
        #expect(third.unchanged == 3 * Self.count && bench.origin.requestCount == 2 * Self.count)
    }
}

extension RenewalTests {
    @Test("Files that are not images are requested with their tag the next time: a 304 costs no body, and is the same failure")
    func refused() async throws {
        let gate = Gate()
        let text = LocalOrigin.Answer.tagged(Array("no picture".utf8), type: "text/html", tag: "\"t\"", headers: [])
        bench.origin.serve("/1.png", .gated(gate, text), text)
        let log = try bench.log
        func publish() async throws {
            var job = try Intake(rules: bench.rules).job(
                url: bench.url("/1.png"), variants: [try bench.rules.spec(of: specs[0])], id: UUID().uuidString,
                lane: .fast)
            job.freshness = .force
            try await bench.append([job.newRecord(partitions: log.partitionCount, at: 0)], to: log)
        }
        try await publish()
        async let work = bench.work(log: log)
        try await eventually { bench.origin.requestCount == 1 }
        // Force counts from when it was said: a request that was sent before is not enough.
        try await publish()
        gate.open()
        let counters = try await work
        #expect(counters.failed == 2 && counters.requests == 2)
        #expect(counters.fetches == 1 && counters.notModified == 1)
        #expect(bench.origin.headers(of: "/1.png").map { $0["if-none-match"] } == [nil, "\"t\""])
        let failures = try await bench.outcomes().map(\.failure)
        #expect(failures.count == 2 && failures[0] == failures[1] && failures[0]?.code.hasPrefix("render.") == true)
    }

    /// The events of the log, in order of their partitions.
    private func events() async throws -> [Record] {
        let log = try bench.log
        var records: [Record] = []
        for number in 0..<Int32(log.partitionCount) {
            records += try await log.read(.events, PartitionID(number), from: 0, limit: 1_000)
        }
        await log.close()
        return records
    }

    private func ask(
        _ specs: [String], _ change: (inout WorkerConfiguration) -> Void = { _ in }, freshness: JobFreshness = .ifStale
    ) async throws -> Counters {
        let log = try bench.log
        var job = try Intake(rules: bench.rules).job(
            url: bench.url("/1.png"), variants: try specs.map { try bench.rules.spec(of: $0) }, id: UUID().uuidString,
            lane: .fast)
        job.freshness = freshness
        try await bench.append([job.newRecord(partitions: log.partitionCount, at: 0)], to: log)
        return try await bench.work(change, log: log)
    }

    @Test(
        "One has changed, and one of its variants is asked for: one body gives all that is stored anew, and one event tells of it",
        arguments: [[[0, 1, 2]], [[0], [1], [2]]])
    func changed(_ asked: [[Int]]) async throws {
        serve(1, picture(1))
        for places in asked { _ = try await ask(places.map { specs[$0] }) }
        let old = try await rows(1)
        serve(1, picture(2))
        let second = try await ask([specs[1]], freshness: .force)
        #expect(second.jobs == 1 && second.stored == 3 && second.renders == 3)
        #expect(second.fetches == 1 && second.fetchedBytes == picture(2).count && second.notModified == 0)
        let new = try await rows(1)
        #expect(new.variants.count == 3 && new.variants.values.allSatisfy { $0.version == new.source?.version })
        let told = try await events()
        #expect(told.count == 1 && told.first?.header("ce_type") == "mezzotint.source.changed.v1")
        let text = String(decoding: told.first?.value ?? [], as: UTF8.self)
        let (from, to) = (try #require(old.source?.version), try #require(new.source?.version))
        #expect(text.contains("\"from\":\"\(from)\",\"to\":\"\(to)\""))
        for (spec, row) in new.variants {
            let before = try #require(old.variants[spec])
            #expect(row.location != before.location)
            #expect(
                text.contains(
                    "{\"spec\":\"\(spec)\",\"location\":\"\(row.location)\",\"replaces\":\"\(before.location)\"}"))
        }
        let outcomes = try await bench.outcomes()
        #expect(outcomes.filter { !$0.job.hasPrefix("mezzotint.") }.last?.kind == .stored)
        // What would have seen to the rest found nothing to do.
        let seen = outcomes.filter { $0.job.hasPrefix(Job.changePrefix) }
        #expect(seen.map(\.kind) == (asked.count > 1 ? [.unchanged] : []))
        // Its id says what its record is to tell.
        #expect(seen.allSatisfy { $0.job.split(separator: "-").last?.count == 64 })
    }

    /// What a worker made: tests draw PNGs alone.
    private func jpeg() async throws -> [UInt8] {
        serve(2, picture(1))
        let log = try bench.log
        try await bench.publish([(bench.url("/2.png"), ["full.jpg"], .fast)], to: log)
        _ = try await bench.work(log: log)
        let row = try #require(try await rows(2).variants.values.first)
        return Array(try Data(contentsOf: URL(filePath: bench.folder.file("store/\(row.location)"))))
    }

    /// Which variants share a decode decides about their bytes (`RenderPlan`); so does of what they are made, and the lane.
    @Test(
        "A comment alone has changed: nothing of what is stored changes, and nobody is told, whatever is asked for then",
        arguments: [
            ([[0, 1, 2]], [0, 1, 2]), ([[0, 1, 2]], [1]), ([[0], [1, 2]], [2]), ([[0], [1], [2]], [2, 0]),
            ([[0, 2], [1]], [0, 1, 2]),
        ],
        [1 << 20, 0])
    func comment(_ asked: (before: [[Int]], then: [Int]), originalsLimit: Int) async throws {
        // A chunk of text behind a PNG's header, or a comment at a JPEG's beginning: other bytes, and the same picture.
        let isJPEG = asked.then.count == 1
        let photo = isJPEG ? try await jpeg() : picture(1)
        let header = isJPEG ? 2 : 33
        let comment: [UInt8] =
            isJPEG
            ? [0xFF, 0xFE, 0, 6] + Array("abcd".utf8)
            : [0, 0, 0, 4] + Array("tEXt".utf8) + Array("a\0bc".utf8) + [0xB7, 0x6E, 0x7F, 0xE9]
        let change: (inout WorkerConfiguration) -> Void = { $0.originalsLimit = originalsLimit }
        serve(1, photo)
        for places in asked.before { _ = try await ask(places.map { specs[$0] }, change) }
        let old = try await rows(1)
        #expect(old.variants.count == 3)
        serve(1, Array(photo[..<header]) + comment + Array(photo[header...]))
        let second = try await ask(asked.then.map { specs[$0] }, change, freshness: .force)
        #expect(second.unchanged == asked.then.count && second.stored == 0 && second.fetches == 1)
        let new = try await rows(1)
        #expect(new.source?.version != old.source?.version)
        for (spec, row) in new.variants {
            #expect(row.version == new.source?.version)
            #expect(row.location == old.variants[spec]?.location && row.digest == old.variants[spec]?.digest)
        }
        #expect(try await events().isEmpty)
        let kinds = try await bench.outcomes().filter { !$0.job.hasPrefix("mezzotint.") && $0.url.hasSuffix("/1.png") }
            .map(\.kind)
        #expect(kinds.count == asked.before.count + 1 && kinds.last == .unchanged)
        let third = try await ask(specs)
        #expect(third.unchanged == 3 && third.requests == 0)
    }

    @Test(
        "An origin that fails: what is stored answers, says so, and is asked for again later; once it is fresh an event tells"
    )
    func stale() async throws {
        let tagged = LocalOrigin.Answer.tagged(
            picture(1), type: "image/png", tag: "\"1\"", headers: [("Cache-Control", "max-age=0")])
        bench.origin.serve("/1.png", tagged, .status(503))
        _ = try await ask(specs)
        let log = try bench.log
        try await bench.publish([(bench.url("/1.png"), [specs[0]], .fast)], to: log)
        let second = try await bench.work(
            log: log,
            watching: { worker in
                try? await eventually { await worker.counters.stale == 1 }
                await worker.drain()
            })
        #expect(second.jobs == 1 && second.stale == 1 && second.endCodes.isEmpty && second.renders == 0)
        let outcome = try #require(try await bench.outcomes().last)
        #expect(outcome.kind == .stale && outcome.failure?.code == "fetch.server-error")
        #expect(outcome.variants.map(\.kind) == [.stale] && outcome.variants.first?.location != nil)
        let owed = try await bench.parkedRecords()
        #expect(owed.count == 1 && owed.first?.header("ce_id")?.hasPrefix("mezzotint.owed/") == true)
        #expect(owed.first?.header("mz_answers") == nil)
        #expect(try await events().isEmpty)

        bench.origin.serve("/1.png", answer(picture(1), 3600))
        let paid = try await bench.work(ahead: 300_000)
        #expect(paid.fetches == 1 && paid.renders == 0)
        let told = try await events()
        #expect(told.count == 1 && told.first?.header("ce_type") == "mezzotint.variant.refreshed.v1")
        let row = try #require(try await rows(1).variants.first { $0.key.description == specs[0] }?.value)
        let text = String(decoding: told.first?.value ?? [], as: UTF8.self)
        #expect(
            text.contains("\"spec\":\"\(specs[0])\",\"version\":\"\(row.version)\",\"location\":\"\(row.location)\""))
        #expect(try await bench.outcomes().last?.kind == .unchanged)
    }
}
