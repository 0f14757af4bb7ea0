import Canonical
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

    /// At first it is not fresh for a moment, then for an hour.
    private func serve(_ number: Int, _ first: [UInt8], then second: [UInt8]) {
        func answer(_ bytes: [UInt8], _ age: Int) -> LocalOrigin.Answer {
            .tagged(
                bytes, type: "image/png", tag: "\"\(bytes.hashValue)\"",
                headers: [("Cache-Control", "max-age=\(age)")])
        }
        bench.origin.serve("/\(number).png", answer(first, 0), answer(second, 3600))
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
