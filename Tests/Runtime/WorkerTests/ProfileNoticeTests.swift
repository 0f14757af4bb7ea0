import Canonical
import Foundation
import ImageModel
import Images
import Records
import Telemetry
import TestPixels
import TestSupport
import Testing
import VariantSpec

@Suite("A colour profile that is not read", .timeLimit(.minutes(1)))
struct ProfileNoticeTests {
    /// Seen to fail: neither row nor log said anything.
    @Test("The row and the log name a profile above the limit, and a smaller one in neither", arguments: [false, true])
    func named(isLarge: Bool) async throws {
        let bench = try Bench()
        // A chunk above 4 MiB, whatever is in it; the smaller one is no profile at all.
        let content = Array("p\0\0".utf8) + [UInt8](repeating: 7, count: isLarge ? 4 << 20 : 1_000)
        let png = Pixels.photograph(width: 90, height: 60, seed: 1).png
        bench.origin.serve(
            "/a.png", .bytes(Array(png[..<33]) + Pixels.chunk("iCCP", content) + png[33...], type: "image/png"))
        let log = try bench.log
        try await bench.publish([(url: bench.url("/a.png"), variants: ["32x32.png"], lane: .fast)], to: log)
        let file = bench.folder.file("lines")
        try Data().write(to: URL(filePath: file))
        let lines = try #require(FileHandle(forWritingAtPath: file))
        try await bench.work(
            log: log, logger: Logger(level: .notice, to: LogOutput(lines.fileDescriptor, isTerminal: false)))
        let source = try bench.rules.source(of: bench.url("/a.png")).key
        let row = try #require(try await bench.rows(of: source).values.first)
        #expect(row.facts?.ignoresProfile == isLarge)
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("colour profile is too large") == isLarge)
    }
}
