import Failures
internal import Ports
internal import Posix
internal import RendererPool
internal import TestPixels
internal import Testing
internal import VariantSpec

@Suite("Pictures: TIFF, whose samples are of many kinds", .timeLimit(.minutes(2)))
struct TIFFTests {
    /// Seen to fail: resampled in steps of eight bits, what is below nought came out black.
    @Test(
        "CIELAB keeps its colours when it is made small",
        arguments: [
            ([150, 0xc4, 40], [0, 166, 64]), ([150, 60, 0xd8], [214, 92, 214]), ([150, 0xc4, 0xc4], [0, 170, 246]),
            ([150, 60, 60], [244, 86, 35]),
        ] as [(stored: [UInt8], shown: [UInt8])])
    func lab(stored: [UInt8], shown: [UInt8]) async throws {
        let file = try Workshop.file(Sources.tiff(of: Sources.flat(stored), kind: 8))
        for spec in ["full.png", "30x20.png", "90x60-enlarge.png"] {
            let pixels = try await Self.made(spec, of: file)
            // Of LittleCMS, by Pillow 13.
            for channel in 0..<3 { #expect(abs(Int(pixels[4, 4, channel]) - Int(shown[channel])) <= 9, "\(spec)") }
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

    /// Seen to fail: integers of 32 bits came out white or empty, signed ones at half their light, and what libvips refused was
    /// said to be damaged.
    @Test(
        "Samples that are not decoded are refused by the header, as our limit",
        arguments: [
            (32, 1, 2, "integers of 32 bits"), (64, 1, 2, "integers of 64 bits"),
            (8, 2, 2, "signed integers of 8 bits"),
            (16, 2, 2, "signed integers of 16 bits"), (16, 3, 2, "floating-point numbers of 16 bits"),
            (64, 3, 2, "floating-point numbers of 64 bits"), (64, 6, 2, "complex"), (8, 1, 9, "ICCLAB"),
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

    private static func made(_ spec: String, of file: OpenFile) async throws -> Pixels {
        let made = try await Workshop.make(spec, of: file, in: Workshop.everything)
        return try #require(Pixels(png: try made.content.bytes()))
    }
}
