import Canonical
import Foundation
import ImageModel
import Images
import Ports
import Posix
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

@Suite("Formats that are chosen by transparency", .timeLimit(.minutes(2)))
struct OpaqueAlphaTests {
    private static func png(alpha: UInt8) -> [UInt8] {
        let photograph = Pixels.photograph(width: 90, height: 60, seed: 4)
        var pixels = Pixels(width: 90, height: 60, channels: 4, bytes: [])
        for pixel in 0..<90 * 60 { pixels.bytes += photograph.bytes[pixel * 3..<pixel * 3 + 3] + [255] }
        pixels.bytes[3] = alpha
        return pixels.png
    }

    /// By reading, the old code fails: behind any other job `auto` became a PNG of the opaque source.
    @Test(
        "The order of two jobs does not decide the format, and alpha that a variant showed is not looked at",
        arguments: [255, 0] as [UInt8],
        [
            (["72x72.png", "32x32.auto"], looks: 0), (["32x32.auto", "72x72.png"], looks: 1),
            (["20y20.png", "32x32.auto"], looks: 1), (["32x32.auto", "20y20.png"], looks: 1),
            (["20y20.jpg", "32x32.auto"], looks: 1), (["32x32.auto", "20y20.jpg"], looks: 1),
        ])
    func orders(alpha: UInt8, jobs: (variants: [String], looks: Int)) async throws {
        let bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Self.png(alpha: alpha), type: "image/png"))
        let looks = Mutex(0)
        for variant in jobs.variants {
            let log = try bench.log
            try await bench.publish([(bench.url("/a.png"), [variant], .fast)], to: log)
            try await bench.work(
                { $0.originalsLimit = 10_000_000 }, log: log,
                rendering: { LookCounter(inner: $0) { looks.withLock { $0 += 1 } } })
        }
        let source = try bench.rules.source(of: bench.url("/a.png")).key
        let specs = try await bench.rows(of: source).keys.map(\.description)
        #expect(specs.contains(alpha == 255 ? "32x32-q80.jpg" : "32x32.png"), "\(specs)")
        #expect(try await bench.sourceRow(of: source)?.hasAlpha == (alpha != 255))
        #expect(looks.withLock { $0 } == jobs.looks)
        // By reading, the old code fails: behind the crop and the JPEG, the source was fetched a second time.
        #expect(bench.origin.requests(of: "/a.png") == 1)
    }

    /// Seen to fail: the header's word was taken, and a photograph with an alpha of nothing but 255 became a PNG.
    @Test(
        "A source whose alpha shows nothing becomes a JPEG, one that is clear somewhere a PNG",
        arguments: [255, 0] as [UInt8])
    func chosen(alpha: UInt8) async throws {
        let bench = try Bench()
        var png = Self.png(alpha: alpha)
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

/// Counts how often pixels are asked for their alpha.
private struct LookCounter: Renderer {
    let inner: any Renderer
    let note: @Sendable () -> Void

    func inspect(_ file: OpenFile) async throws(RenderFailure) -> Picture { try await inner.inspect(file) }

    func isOpaque(_ picture: Picture, origin: String?) async -> Bool {
        note()
        return await inner.isOpaque(picture, origin: origin)
    }

    func render(
        _ picture: Picture, _ orders: [RenderOrder], isReuse: Bool, origin: String?
    ) async throws(RenderFailure) -> [RenderedVariant] {
        try await inner.render(picture, orders, isReuse: isReuse, origin: origin)
    }
}
