import Failures
internal import Foundation
internal import Images
internal import Ports
internal import Posix
import RenderProtocol
internal import RendererPool
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

/// What only decoding shows. Most took less than a second and 60 to 320 MiB on two busy cores; the circles 7 s, until librsvg
/// had counted 500,000.
@Suite(
    "Pictures: bombs behind a good header end by the deadline, within the memory of a child", .timeLimit(.minutes(5)))
struct HiddenBombTests {
    struct Bomb: Sendable, CustomTestStringConvertible {
        let name: String
        /// How it may end: rendered, or by which code.
        let ends: [String]
        let file: @Sendable () async throws -> [UInt8]
        var testDescription: String { name }
    }

    @Test(
        "Each ends as told, and the next picture is rendered",
        arguments: [
            Bomb(name: "a JPEG of 49 Mpx in 64 legal scans", ends: ["rendered"]) { Sources.scannedJPEG(side: 7_000) },
            Bomb(name: "an AVIF of 44 Mpx, one tile over and over", ends: ["rendered"]) {
                try await grid(13, shown: 6_656)
            },
            Bomb(name: "an AVIF that says 512 pixels and has 15,872", ends: ["render.out-of-memory"]) {
                try await grid(31, shown: 512)
            },
            Bomb(name: "a GIF of 49 Mpx in 30 kB", ends: ["rendered"]) {
                Sources.flatGIF(side: 7_000, frames: [(7_000, 7_000)])
            },
            Bomb(name: "a GIF whose second frame is 400 times its canvas", ends: ["rendered"]) {
                Sources.flatGIF(side: 100, frames: [(100, 100), (65_535, 61)])
            },
            Bomb(name: "a PNG of 500 × 500 whose data inflate to 200 MB", ends: ["rendered"]) {
                let png = Sources.blackPNG(width: 500, height: 500)
                return Array(png[..<33]) + Pixels.chunk("IDAT", Sources.zeros(200_000_000)) + Pixels.chunk("IEND", [])
            },
            Bomb(name: "a WebP of 10 × 10 that holds one of 16,383 × 16,383", ends: ["render.malformed"]) {
                Sources.swollenWebP
            },
            Bomb(name: "a TIFF of 49 Mpx in one strip", ends: ["rendered"]) { Sources.stripTIFF(side: 7_000) },
            Bomb(name: "an SVG of a thousand million circles", ends: ["render.unsupported", "render.deadline"]) {
                Sources.nestedSVG
            },
            // librsvg counts a million; a renderer with the memory of the defaults does not come so far.
            Bomb(name: "an SVG of 1,100,000 elements", ends: ["render.unsupported", "render.out-of-memory"]) {
                Sources.svg(String(repeating: "<g/>", count: 1_100_000))
            },
            Bomb(name: "an SVG of 300 elements in each other", ends: ["render.unsupported"]) {
                Sources.svg(String(repeating: "<g>", count: 300) + String(repeating: "</g>", count: 300))
            },
            Bomb(name: "an SVG with an element that does not end", ends: ["render.malformed"]) { Sources.svg("<g>") },
            Bomb(name: "an SVG of entities within entities", ends: ["render.malformed"]) { Sources.laughingSVG },
            Bomb(name: "a WebP with a profile of 64 MB", ends: ["rendered"]) {
                Sources.burdenedWebP("ICCP", 64_000_000)
            },
            Bomb(name: "a WebP with an XMP packet of 10 MB", ends: ["rendered"]) {
                Sources.burdenedWebP("XMP ", 10_000_000)
            },
            Bomb(name: "a PNG with a text of 10 MB", ends: ["rendered"]) {
                let text = Pixels.chunk(
                    "iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + [UInt8](repeating: 0x3c, count: 10_000_000))
                return Sources.png(Sources.flat([9, 9, 200]), with: [text])
            },
            Bomb(name: "a JPEG with 10 MB of EXIF, XMP and IPTC", ends: ["rendered"]) {
                let jpeg = Sources.flatJPEG(PixelSize(width: 90, height: 60))
                return (0..<53).reduce(jpeg) { jpeg, _ in Sources.photographed(jpeg, padding: 65_000) }
            },
            // Seen to end its inspector, which had a copy of the namespace for each name: 105 MB.
            Bomb(name: "a JPEG with 10,000 XMP attributes in a namespace of 4 kB", ends: ["rendered"]) {
                Sources.namedJPEG
            },
            Bomb(name: "a PNG whose header says 16 times its rows", ends: ["render.malformed"]) {
                let (few, many) = (
                    Sources.blackPNG(width: 4_000, height: 250), Sources.blackPNG(width: 4_000, height: 4_000)
                )
                return Array(many[..<33]) + few[33...]
            },
            Bomb(name: "a JPEG whose header says 16 times its pixels", ends: ["render.malformed"]) {
                // Of 93,750 bytes of pixels a sixteenth is left, and the mark of its end: browsers show the rest in grey, sharp refuses it.
                Sources.flatJPEG(PixelSize(width: 4_000, height: 4_000)).dropLast(88_000) + [0xff, 0xd9]
            },
            Bomb(name: "a GIF of 20,000 frames", ends: ["render.too-many-frames"]) {
                Sources.flatGIF(side: 8, frames: [(width: Int, height: Int)](repeating: (8, 8), count: 20_000))
            },
            Bomb(name: "a WebP of 20,000 frames", ends: ["render.too-many-frames"]) {
                Sources.flatWebP(PixelSize(width: 8, height: 8), frames: 20_000)
            },
        ])
    func hidden(bomb: Bomb) async throws {
        var configuration = RendererConfiguration(program: Built.program("mezzotint-renderer").path, count: 1)
        configuration.limits.formats = Set(ImageFormat.allCases)
        let pool = RendererPool(configuration)
        try await pool.ready()
        let file = try Workshop.file(try await bomb.file())
        let start = ContinuousClock.now
        let end = await Self.end(of: file, in: pool)
        let spent = ContinuousClock.now - start
        #expect(bomb.ends.contains { end.hasPrefix($0) }, "\(end)")
        // The deadline, and as much again for the machine that the tests share.
        #expect(spent < .seconds(20))
        #expect(pool.peakMemoryBytes < 640 << 20)
        #expect(
            try await Workshop.make(
                "30x20.webp", of: try Workshop.file(Pixels.map(width: 60, height: 40).png), in: pool
            ).size.width == 30)
        await pool.stop()
    }

    private static func end(of file: OpenFile, in pool: RendererPool) async -> String {
        do {
            let made = try await Workshop.render(file, in: pool) {
                [Workshop.order(64, 64, .webp, of: $0.size), Workshop.order(20, 20, .jpeg, of: $0.size)]
            }
            return made.count == 2 ? "rendered" : "nothing"
        } catch {
            return (error as? RenderFailure).map { "\($0.code) \($0)" } ?? "\(error)"
        }
    }

    private static func grid(_ count: Int, shown: Int) async throws -> [UInt8] {
        let tile = try await Workshop.make(
            "full.avif", of: try Workshop.file(Sources.flat([90, 120, 30], width: 512, height: 512).png))
        return try #require(Sources.grid(tile: try tile.content.bytes(), side: 512, count: count, shown: shown))
    }
}
