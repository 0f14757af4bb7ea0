import Failures
internal import Foundation
internal import Images
internal import Ports
internal import Posix
internal import RendererPool
internal import TestPixels
internal import Testing
internal import VariantSpec

@Suite("Pictures: TIFF, whose samples are of many kinds", .timeLimit(.minutes(2)))
struct TIFFTests {
    /// Seen to fail: resampled in steps of eight bits, what is below nought came out black; and taken for D65, saturated blue
    /// lost up to 86 levels of red.
    @Test(
        "CIELAB keeps its colours when it is made small",
        arguments: [
            ([150, 0xc4, 40], [0, 166, 64]), ([150, 60, 0xd8], [214, 92, 214]), ([150, 0xc4, 0xc4], [0, 170, 246]),
            ([150, 60, 60], [244, 86, 35]), ([136, 246, 212], [36, 135, 203]), ([120, 20, 20], [150, 98, 79]),
        ] as [(stored: [UInt8], shown: [UInt8])])
    func lab(stored: [UInt8], shown: [UInt8]) async throws {
        let file = try Workshop.file(Sources.tiff(of: Sources.flat(stored), kind: 8))
        for spec in ["full.png", "30x20.png", "90x60-enlarge.png"] {
            let pixels = try await Self.made(spec, of: file)
            // Of LittleCMS, by Pillow 13.
            for channel in 0..<3 { #expect(abs(Int(pixels[4, 4, channel]) - Int(shown[channel])) <= 3, "\(spec)") }
        }
    }

    /// Seen to fail: inks of 16 bits were converted by a rule of libvips, and came out up to 22 levels paler.
    @Test(
        "Inks of 16 bits look as those of eight do",
        arguments: [[200, 20, 20, 10], [10, 10, 220, 40], [80, 70, 60, 50]] as [[UInt8]], ["full.png", "30x20.png"])
    func wideInks(inks: [UInt8], spec: String) async throws {
        let plain = Sources.flat(inks)
        var wide = plain
        wide.bytes = plain.bytes.flatMap { [$0, $0] }
        let narrow = try await Self.made(spec, of: try Workshop.file(Sources.tiff(of: plain, kind: 5)))
        let pixels = try await Self.made(spec, of: try Workshop.file(Sources.tiff(of: wide, kind: 5, bits: 16)))
        #expect(pixels.bytes == narrow.bytes)
    }

    /// Seen to fail: a BigTIFF was said to be damaged.
    @Test("A BigTIFF is read as a TIFF is", arguments: [ImageRows.one, .many])
    func big(rows: ImageRows) async throws {
        let picture = Pixels.photograph(width: 60, height: 40, seed: 3)
        let bytes = Sources.tiff(of: picture, kind: 2, rows: rows == .one ? nil : 8, isBig: true)
        let pixels = try await Self.made("full.png", of: try Workshop.file(bytes))
        #expect(pixels.bytes == picture.bytes)
    }
    enum ImageRows { case one, many }

    /// Seen to fail: integers of 32 bits came out white or empty, floating-point grey black, signed ones at half their light, and what libvips refused was
    /// said to be damaged.
    @Test(
        "Samples that are not decoded are refused by the header, as our limit",
        arguments: [
            (32, 1, 2, "integers of 32 bits"), (64, 1, 2, "integers of 64 bits"),
            (8, 2, 2, "signed integers of 8 bits"),
            (16, 2, 2, "signed integers of 16 bits"), (16, 3, 2, "floating-point numbers of 16 bits"),
            (64, 3, 2, "floating-point numbers of 64 bits"), (32, 3, 1, "grey is of floating-point numbers"),
            (64, 6, 2, "complex"), (8, 1, 9, "ICCLAB"),
        ])
    func refused(bits: Int, sampleKind: Int, kind: Int, says: String) async throws {
        var pixels = Sources.flat([200, 100, 50])
        pixels.bytes = pixels.bytes.flatMap { [UInt8](repeating: $0, count: bits / 8) }
        let file = try Workshop.file(Sources.tiff(of: pixels, kind: kind, bits: bits, sampleKind: sampleKind))
        let failure = await #expect(throws: RenderFailure.self) { try await Workshop.everything.inspect(file) }
        #expect(failure?.code == "render.unsupported")
        #expect(failure?.description.contains(says) == true, "\(failure.map { "\($0)" } ?? "")")
        #expect(failure?.description.contains("at its origin") == false)
    }

    /// By reading: sums of four samples were written into with as many as the file names.
    @Test("More samples a pixel than colours and alpha are refused", arguments: [5, 64])
    func samples(count: Int) async throws {
        var pixels = Sources.flat([200, 100, 50])
        pixels.bytes = Array(repeating: 100, count: pixels.width * pixels.height * count)
        let file = try Workshop.file(Sources.tiff(of: pixels, kind: 2, samples: count))
        let failure = await #expect(throws: RenderFailure.self) { try await Workshop.everything.inspect(file) }
        #expect(failure?.description.contains("\(count) samples a pixel") == true, "\(failure.map { "\($0)" } ?? "")")
    }

    /// Two halves, in files of tifffile and Pillow; what they show is that of Pillow 13 or of libtiff 4.5's tiff2rgba.
    @Test(
        "Kinds of TIFF are read as other decoders read them, or refused as our limit",
        arguments: ([
            "bigtiff-be-16-tiled", "lab8", "lab16", "palette1", "palette2", "palette4", "palette8", "rgb-jpeg",
            "rgb-lzw",
            "rgb-packbits", "rgb-zlib", "rgb-zstd", "rgb-planar16", "rgb-tiled", "rgb16-tiled-deflate",
        ].map { ($0, [200, 60, 40, 30, 120, 220]) } + [
            ("bilevel-group4", [255, 255, 255, 0, 0, 0]), ("grey-alpha", [100, 100, 100, 104, 104, 104]),
            ("grey-jpeg", [100, 100, 100, 104, 104, 104]), ("grey16-white", [100, 100, 100, 104, 104, 104]),
            ("grey4", [102, 102, 102, 102, 102, 102]), ("rgba-assoc", [199, 63, 39, 29, 119, 219]),
            ("ycbcr-jpeg", [77, 255, 80, 159, 0, 16]), ("ycbcr-jpeg-tiled", [77, 255, 80, 159, 0, 16]),
            ("oldjpeg-ycbcr", []), ("oldjpeg-rgb", []), ("rgb-planar-tiled", []),
        ]) as [(name: String, shown: [Int])])
    func kinds(name: String, shown: [Int]) async throws {
        let file = try Workshop.file(ColourTests.references.appending(path: "tiff/\(name).tif"))
        if shown.isEmpty {
            let failure = await #expect(throws: RenderFailure.self) { try await Self.made("full.png", of: file) }
            #expect(failure?.code == "render.unsupported", "\(failure.map { "\($0)" } ?? "")")
            return
        }
        let pixels = try await Self.made("full.png", of: file)
        let isGrey = pixels.channels < 3
        let found = [4, 28].flatMap { x in (0..<3).map { Int(pixels[x, 8, isGrey ? 0 : $0]) } }
        #expect(zip(found, shown).allSatisfy { abs($0 - $1) <= 3 }, "\(found)")
    }

    private static func made(_ spec: String, of file: OpenFile) async throws -> Pixels {
        let made = try await Workshop.make(spec, of: file, in: Workshop.everything)
        return try #require(Pixels(png: try made.content.bytes()))
    }
}
