import Failures
internal import Ports
internal import Posix
internal import RendererPool
internal import TestPixels
internal import TestSupport
internal import Testing
internal import VariantSpec

@Suite("Pictures: AVIF and HEIC, whose tables may be in any order", .timeLimit(.minutes(2)))
struct HEIFTests {
    private static func avif(alpha: Bool = false) async throws -> [UInt8] {
        var pixels = Pixels.photograph(width: 60, height: 40, seed: 8)
        if alpha {
            pixels = Sources.flat([200, 30, 30, 0], width: 60, height: 40)
            for y in 0..<20 {
                for x in 0..<30 { pixels.bytes[(y * 60 + x) * 4 + 3] = 255 }
            }
        }
        return try await Workshop.make("full-q90.avif", of: try Workshop.file(pixels.png)).content.bytes()
    }

    /// Seen to fail: libheif 1.15.1 reports a size that is not that of its pixels, and the file was said to be damaged.
    @Test(
        "What turns or cuts an image does so wherever it is listed",
        arguments: [["irot"], ["imir"], ["clap"], ["clap", "irot", "imir"], ["irot", "clap"]])
    func order(types: [String]) async throws {
        let file = try await Self.avif()
        func listed(first: Bool) -> [UInt8] {
            Sources.avif(file, properties: types.map(Sources.transform)) { links, next in
                let turns = types.indices.map { next + $0 }
                links[1] = first ? turns + (links[1] ?? []) : (links[1] ?? []) + turns
            }
        }
        let usual = try await Workshop.pixels(of: listed(first: false))
        let early = try await Workshop.pixels(of: listed(first: true))
        #expect(usual.bytes == early.bytes && usual.width == early.width)
        let cut = types.contains("clap")
        let sides = cut ? [10, 20] : [40, 60]
        #expect([usual.width, usual.height] == (types.contains("irot") ? sides : sides.reversed()))
    }

    /// Seen to fail: alpha without the image's turn was dropped, and what is clear came out in its hidden colour.
    @Test("Alpha has the turns of its image, whether it says so or not", arguments: [true, false])
    func alpha(isTold: Bool) async throws {
        let file = Sources.avif(try await Self.avif(alpha: true), properties: [Sources.transform("irot")]) {
            links, next in
            for item in links.keys where item == 1 || isTold { links[item, default: []].append(next) }
        }
        let source = try Workshop.file(file)
        #expect(try await Workshop.pool.inspect(source).facts.hasAlpha)
        let made = try await Workshop.make("full.png", of: source)
        let pixels = try #require(Pixels(png: try made.content.bytes()))
        // Against the clock: what was on the left above is on the left below.
        #expect(made.size == PixelSize(width: 40, height: 60) && made.hasAlpha)
        #expect(pixels[5, 50, 3] > 250 && pixels[5, 5, 3] < 5 && pixels[35, 50, 3] < 5)
        let flat = try await Workshop.pixels(of: try await Workshop.make("full.jpg", of: source).content.bytes())
        #expect(flat[5, 5, 1] > 250 && flat[5, 50, 1] < 60)
    }

    /// Seen to fail: code values were taken for sRGB's. Expected are those of the same formulas in numpy.
    @Test(
        "Colours named by code points are those of the image",
        arguments: [
            ([200, 60, 60], 12, 13, [217, 42, 52]), ([60, 160, 90], 12, 13, [0, 163, 82]),
            ([128, 128, 128], 9, 16, [154, 154, 154]), ([60, 160, 90], 9, 16, [0, 222, 0]),
            ([200, 60, 60], 9, 18, [235, 0, 40]), ([128, 128, 128], 9, 18, [125, 125, 125]),
            ([220, 220, 220], 9, 18, [221, 221, 221]), ([200, 60, 60], 1, 13, [200, 60, 60]),
        ] as [(colour: [UInt8], primaries: UInt8, transfer: UInt8, shown: [UInt8])])
    func colours(colour: [UInt8], primaries: UInt8, transfer: UInt8, shown: [UInt8]) async throws {
        let flat = Sources.flat(colour)
        let plain = try await Workshop.make("full-q95.avif", of: try Workshop.file(flat.png)).content.bytes()
        let avif = Sources.avif(plain, properties: [Sources.codes(primaries, transfer)]) { links, next in
            links[1, default: []].append(next)
        }
        let png = Sources.png(flat, with: [Pixels.chunk("cICP", [primaries, transfer, 0, 1])])
        for (source, near) in [(avif, 6), (png, 2)] {
            for spec in ["full.png", "30x20.png"] {
                let made = try await Workshop.make(spec, of: try Workshop.file(source))
                let pixels = try #require(Pixels(png: try made.content.bytes()))
                let found = (0..<3).map { pixels[4, 4, $0] }
                #expect(zip(found, shown).allSatisfy { abs(Int($0) - Int($1)) <= near }, "\(spec): \(found)")
            }
        }
    }

    /// Seen to fail: libheif knows no brand of sequences alone, and a file without a primary item was said to be damaged.
    @Test("A sequence gives its still image; one without is refused as our limit")
    func sequences() async throws {
        let file = try await Self.avif()
        let sequence = Sources.avif(file, brand: "avis", isNamed: false)
        let pixels = try await Workshop.pixels(of: sequence)
        #expect(pixels.bytes == (try await Workshop.pixels(of: file)).bytes)
        let bare = Bombs.box("ftyp", Array("avis".utf8) + [0, 0, 0, 0] + Array("avis".utf8)) + Bombs.box("moov", [])
        let failure = await #expect(throws: RenderFailure.self) {
            try await Workshop.pool.inspect(try Workshop.file(bare))
        }
        #expect(failure?.code == "render.unsupported" && failure?.description.contains("sequence") == true)
    }

    @Test(
        "Files of other encoders come out as their other decoders show them",
        .enabled(if: Shared.has("cases"), Comment(rawValue: Shared.absent)),
        arguments: [
            ("avif-transform-before-size/avif-irot-before-ispe.avif", 96, 128, false),
            ("avif-alpha-turned/avif-alpha-irot.avif", 96, 128, true),
            ("avif-sequence/star-8bpc.avifs", 159, 159, false),
            (
                "avif-sequence/android_jni__avifandroidjni__src__androidTest__assets__animated_avif__Chimera-AV1-10bit-480x270.avif",
                480, 270, false
            ),
        ])
    func cases(name: String, width: Int, height: Int, hasAlpha: Bool) async throws {
        let made = try await Workshop.make(
            "full.png", of: try Workshop.file(try #require(Shared.part("cases/\(name)"))))
        #expect(made.size == PixelSize(width: width, height: height) && made.hasAlpha == hasAlpha)
    }
}
