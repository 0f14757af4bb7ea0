import Canonical
import Foundation
import ImageModel
import Records
import TestPixels
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

@Suite("Formats that are chosen by transparency", .timeLimit(.minutes(2)))
struct OpaqueAlphaTests {
    /// Seen to fail: the header's word was taken, and a photograph with an alpha of nothing but 255 became a PNG.
    @Test(
        "A source whose alpha shows nothing becomes a JPEG, one that is clear somewhere a PNG",
        arguments: [255, 0] as [UInt8])
    func chosen(alpha: UInt8) async throws {
        let bench = try Bench()
        let photograph = Pixels.photograph(width: 90, height: 60, seed: 4)
        var pixels = Pixels(width: 90, height: 60, channels: 4, bytes: [])
        for pixel in 0..<90 * 60 { pixels.bytes += photograph.bytes[pixel * 3..<pixel * 3 + 3] + [255] }
        pixels.bytes[3] = alpha
        var png = pixels.png
        // Behind the signature and the header.
        png.insert(contentsOf: Pixels.chunk("tEXt", Array("Copyright\0(c) A. Smith".utf8)), at: 33)
        bench.origin.serve("/a.png", .bytes(png, type: "image/png"))
        let log = try bench.log
        try await bench.publish(
            [(url: bench.url("/a.png"), variants: ["32x32.auto", "30x30.png"], lane: .fast)], to: log)
        try await bench.work(log: log)
        let source = try bench.rules.source(of: bench.url("/a.png")).key
        let rows = try await bench.rows(of: source)
        let specs = rows.keys.map(\.description).sorted()
        #expect(specs == ["30x30.png", alpha == 255 ? "32x32-q80.jpg" : "32x32.png"])
        #expect(try await bench.sourceRow(of: source)?.hasAlpha == (alpha != 255))
        // Seen to fail: without its alpha the source had no rights.
        for row in rows.values {
            let blob = try Data(contentsOf: URL(filePath: bench.folder.file("store/\(row.location)")))
            #expect(blob.firstRange(of: Data("A. Smith".utf8)) != nil, "\(row.spec)")
        }
    }
}
