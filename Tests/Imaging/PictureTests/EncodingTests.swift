internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RendererPool
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@Suite("Pictures: scans, chroma and effort, whoever encodes", .timeLimit(.minutes(2)))
struct EncodingTests {
    /// The same picture as a PNG, which libvips renders, and as a JPEG, which goes the direct way.
    private static let sources: [ImageFormat] = [.png, .jpeg]
    private static func source(_ format: ImageFormat, width: Int = 160, height: Int = 120) async throws -> OpenFile {
        let png = try Workshop.file(Pixels.photograph(width: width, height: height, seed: 6).png)
        if format == .png { return png }
        return try Workshop.file(try await Workshop.make("full-q100.jpg", of: png).content.bytes())
    }

    /// The pool takes no output whose end the inspector does not find.
    @Test("Each format of the table comes out of both engines, whole", arguments: ImageFormat.written)
    func written(format: ImageFormat) async throws {
        for source in Self.sources {
            let spec = "80x60\(format.hasQuality ? "-q80" : "").\(format.suffix)"
            let made = try await Workshop.make(spec, of: try await Self.source(source))
            let inspected = try await Workshop.pool.inspect(try Workshop.file(made.content.bytes()))
            #expect(inspected.facts.format == format && inspected.facts.size == made.size)
        }
    }

    /// Seen to fail while the direct path wrote one scan, whatever the settings said.
    @Test("JPEGs have one scan or several as the settings say, and the same pixels either way", arguments: sources)
    func scans(source: ImageFormat) async throws {
        let file = try await Self.source(source)
        var configuration = Workshop.configuration(count: 1)
        configuration.isProgressive = true
        let pool = RendererPool(configuration)
        let one = try await Workshop.make("80x80.jpg", of: file).content.bytes()
        let several = try await Workshop.make("80x80.jpg", of: file, in: pool).content.bytes()
        #expect(try Self.frame(of: one).coding == 0xc0 && Self.frame(of: several).coding == 0xc2)
        #expect(Self.scans(one) == 1 && Self.scans(several) > 5)
        #expect(try await Workshop.pixels(of: one) == Workshop.pixels(of: several))
        await pool.stop()
    }

    /// Seen to fail: each had a fourth channel that shows nothing.
    @Test(
        "Alpha that is opaque everywhere is dropped; one clear pixel keeps it",
        arguments: ["full.png", "full-q80.webp", "full.avif"])
    func opaque(spec: String) async throws {
        var pixels = Sources.flat([200, 100, 50, 255], width: 300, height: 200)
        let whole = try Workshop.file(pixels.png)
        pixels.bytes[4 * 150 + 3] = 0
        let holed = try Workshop.file(pixels.png)
        for pool in [Workshop.pool, Workshop.libvips] {
            #expect(try await !Workshop.make(spec, of: whole, in: pool).hasAlpha)
            #expect(try await Workshop.make(spec, of: holed, in: pool).hasAlpha)
        }
        let inspected = (try await Workshop.pool.inspect(whole), try await Workshop.pool.inspect(holed))
        #expect(await Workshop.pool.isOpaque(inspected.0, origin: nil))
        #expect(await !Workshop.pool.isOpaque(inspected.1, origin: nil))
    }

    /// Seen to fail: AVIF had three channels.
    @Test(
        "Grey stays grey: one channel where the format has it",
        arguments: ["full.jpg", "full.png", "full.webp", "full.avif"])
    func grey(spec: String) async throws {
        let pixels = Pixels(width: 64, height: 48, channels: 1, bytes: (0..<64 * 48).map { UInt8($0 % 64 * 4) })
        let png = try Workshop.file(pixels.png)
        let jpeg = try await Workshop.make("full-q95.jpg", of: png).content.bytes()
        for (source, pool) in [
            (png, Workshop.pool), (try Workshop.file(jpeg), Workshop.pool), (try Workshop.file(jpeg), Workshop.libvips),
        ] {
            let made = try await Workshop.make(spec, of: source, in: pool)
            let file = try made.content.bytes()
            #expect(try Self.isOfOneChannel(file, made.spec.format) ?? true)
            let shown = try await Workshop.pixels(of: file)
            for x in stride(from: 0, to: 64, by: 9) {
                for channel in 0..<shown.channels { #expect(abs(Int(shown[x, 24, channel]) - 4 * x) <= 6) }
            }
        }
    }

    @Test("So does grey with alpha, and grey that keeps its profile", arguments: ["full.avif", "full-profile.avif"])
    func greyMore(spec: String) async throws {
        let pixels = Pixels(
            width: 64, height: 48, channels: 2, bytes: (0..<64 * 48).flatMap { [128, UInt8($0 % 64 * 4)] })
        let chunks = spec.contains("profile") ? [Sources.profileChunk(Sources.squareProfile)] : []
        let made = try await Workshop.make(spec, of: try Workshop.file(Sources.png(pixels, with: chunks)))
        let file = try made.content.bytes()
        #expect(try made.hasAlpha && Self.isOfOneChannel(file, .avif) == true)
        #expect((file.firstRange(of: Array("prof".utf8)) != nil) == !chunks.isEmpty)
        let shown = try await Workshop.pixels(of: file)
        let last = shown.channels - 1
        #expect(last > 0 && abs(Int(shown[10, 24, last]) - 40) <= 6 && abs(Int(shown[50, 24, last]) - 200) <= 6)
    }

    /// nil of WebP, which has no grey.
    private static func isOfOneChannel(_ file: [UInt8], _ format: ImageFormat) throws -> Bool? {
        func content(_ box: String) -> Int? { file.firstRange(of: Array(box.utf8))?.upperBound }
        switch format {
        case .jpeg:
            // Length, precision, sides, components.
            let frame = try #require(file.firstRange(of: [0xff, 0xc0]) ?? file.firstRange(of: [0xff, 0xc2]))
            return file[frame.upperBound + 7] == 1
        case .png: return file[25] == 0
        case .avif:
            // The bit for one plane, and the count of channels behind the version.
            let (codec, channels) = (try #require(content("av1C")), try #require(content("pixi")))
            return file[codec + 2] & 0x10 != 0 && file[channels + 4] == 1
        default: return nil
        }
    }

    /// Seen to fail: pixels that are not held were not looked at.
    @Test("Above the pixels that are held opaque alpha is dropped, too")
    func largeOpaque() async throws {
        let whole = try Workshop.file(Sources.flat([200, 100, 50, 255], width: 60, height: 60).png)
        let made = try await Workshop.make("4100x4100-enlarge.png", of: whole, in: Workshop.libvips)
        #expect(made.size.pixels > 16_000_000 && !made.hasAlpha)
    }

    @Test(
        "Chroma is whole from quality 90 in JPEG and AVIF, and of half the resolution below where nothing shows it",
        arguments: sources)
    func chroma(source: ImageFormat) async throws {
        let png = try Workshop.file(Pixels.map(width: 320, height: 240).png)
        let file =
            source == .png ? png : try Workshop.file(try await Workshop.make("full-q100.jpg", of: png).content.bytes())
        for (quality, sampling, subsampled) in [(89, UInt8(0x22), UInt8(0x0c)), (90, 0x11, 0)] {
            let jpeg = try await Workshop.make("160x160-q\(quality).jpg", of: file).content.bytes()
            #expect(try Self.frame(of: jpeg).sampling == sampling, "\(quality)")
            let avif = try await Workshop.make("160x160-q\(quality).avif", of: file).content.bytes()
            #expect(try Self.subsampling(of: avif) == subsampled, "\(quality)")
        }
    }

    /// Seen to fail while quality alone decided: all were halved at q80.
    @Test(
        "Coloured text, lines, charts and screens keep whole chroma at any quality, black text needs none",
        arguments: 0..<Drawing.count)
    func drawnChroma(number: Int) async throws {
        let drawing = try Workshop.file(Drawing.numbered(number, width: 700, height: 520).png)
        let isWhole = Drawing.Kind.of(number) != .page
        // As a JPEG it goes the direct way.
        let jpeg = try await Workshop.make("full-q100.jpg", of: drawing).content.bytes()
        for file in [drawing, try Workshop.file(jpeg)] {
            for spec in ["full-q60.jpg", "400x400-q80.jpg"] {
                let made = try await Workshop.make(spec, of: file).content.bytes()
                #expect(try Self.frame(of: made).sampling == (isWhole ? 0x11 : 0x22), "\(spec)")
                #expect(try await Workshop.make(spec, of: file).content.bytes() == made)
            }
            let avif = try await Workshop.make("400x400-q80.avif", of: file).content.bytes()
            #expect(try Self.subsampling(of: avif) == (isWhole ? 0 : 0x0c))
        }
    }

    /// Seen to fail while each output was looked at by itself: at 480 px screens passed for photographs.
    @Test(
        "A drawing that is a JPEG is told from a photograph on either way, and nothing is said by too few pixels",
        arguments: [(1, true), (2, true), (3, true), (4, true), (14, true), (nil, false)] as [(Int?, Bool)])
    func drawn(number: Int?, isDrawing: Bool) async throws {
        var jpeg = try Workshop.file(Project.file("examples/mountains.jpg"))
        if let number {
            let png = try Workshop.file(Drawing.numbered(number, width: 1_400, height: 1_000).png)
            jpeg = try Workshop.file(try await Workshop.make("full-q90.jpg", of: png).content.bytes())
        }
        let size = try await Workshop.pool.inspect(jpeg).facts.size
        for specs in [["800x800.webp", "200x200.png"], ["800x800.webp", "200y200-smart.png"], ["477x477.png"]] {
            let orders = try specs.map { try Workshop.order($0, of: size) }
            for made in try await Workshop.render(jpeg, { _ in orders }) {
                #expect(made.rendition.isOfDrawing == isDrawing, "\(made.spec)")
            }
        }
        let few = try await Workshop.make("200x200.png", of: jpeg).rendition.isOfDrawing
        #expect(few == nil || few == true && isDrawing)
    }

    @Test(
        "Photographs have chroma of half the resolution below quality 90, and whole chroma up to 128x128",
        .enabled(if: Shared.has("images/photos"), Comment(rawValue: Shared.absent)))
    func photographedChroma() async throws {
        var drawings: [String] = []
        for photograph in Shared.pictures("photos") {
            let variant = try await Workshop.make("700x700-q80.jpg", of: Workshop.file(photograph))
            if variant.rendition.isOfDrawing != false { drawings.append(photograph.lastPathComponent) }
            let made = try variant.content.bytes()
            #expect(try Self.frame(of: made).sampling == 0x22, "\(photograph.lastPathComponent)")
            let small = try await Workshop.make("128x128-q80.jpg", of: Workshop.file(photograph)).content.bytes()
            #expect(try Self.frame(of: small).sampling == 0x11, "\(photograph.lastPathComponent)")
        }
        // A thermal camera's screen, and one whose chroma has half the columns.
        #expect(drawings == ["flir-iphone-device.jpg", "olympus-c720uz.jpg"])
    }

    /// Seen to fail: coloured text scored 30 as AVIF and 35 as JPEG at q80.
    @Test(
        "Coloured text at q80 scores as it should",
        .enabled(if: SSIMULACRA2.isHere, Comment(rawValue: Shared.absent)),
        arguments: [(ImageFormat.jpeg, 68.0), (.avif, 80.0)])
    func colouredText(format: ImageFormat, least: Double) async throws {
        let drawing = Drawing.numbered(6, width: 700, height: 520)
        let made = try await Workshop.make("full-q80.\(format.suffix)", of: Workshop.file(drawing.png)).content.bytes()
        #expect(try await Self.score(made, against: drawing) >= least)
    }

    /// Seen to fail: it came out at q81, with half the chroma, for 35 points.
    @Test("q90 of a small PNG comes out at q90 with full chroma", arguments: [ImageFormat.jpeg, .avif, .webp])
    func small(format: ImageFormat) async throws {
        let drawing = Drawing.numbered(0, width: 500, height: 380)
        let source = try Workshop.file(
            try await Workshop.make("full.png", of: Workshop.file(drawing.png)).content.bytes())
        let made = try await Workshop.make("full-q90.\(format.suffix)", of: source)
        #expect(made.rendition.quality == 90)
        let bytes = try made.content.bytes()
        if format == .jpeg { #expect(try Self.frame(of: bytes).sampling == 0x11) }
        if format == .avif { #expect(try Self.subsampling(of: bytes) == 0) }
    }

    /// Seen to fail: AVIF went from q80 to q42, and JPEG from q90 with whole chroma to q81 with half of it, for 35 points.
    @Test(
        "To stay below its source a variant gives up 8 points at most of what was asked",
        .enabled(if: SSIMULACRA2.isHere, Comment(rawValue: Shared.absent)),
        arguments: ["full-q90.jpg", "full-q80.jpg", "full-q80.webp", "full-q80.avif"], [1, 2, 3, 4])
    func floor(spec: String, number: Int) async throws {
        let drawing = Drawing.numbered(number, width: 500, height: 380)
        let source = try Workshop.file(
            try await Workshop.make("full.png", of: Workshop.file(drawing.png)).content.bytes())
        let lowered = try await Workshop.make(spec, of: source)
        let asked = try await Workshop.make(spec, of: source, in: Self.asAsked)
        #expect(asked.rendition.quality - lowered.rendition.quality <= 5)
        let score = try await Self.score(asked.content.bytes(), against: drawing)
        #expect(try await Self.score(lowered.content.bytes(), against: drawing) >= score - 8)
    }

    /// Seen to fail with a floor of 1 for a source's own format: a photograph of q50 asked as q85 came out at q44, 8.4 points below.
    @Test(
        "A lossy source's own pixels in its own format, too",
        .enabled(if: SSIMULACRA2.isHere, Comment(rawValue: Shared.absent)),
        arguments: ["jpg", "webp", "avif"], [30, 50])
    func lossyFloor(ending: String, quality: Int) async throws {
        let drawing = Drawing.numbered(2, width: 500, height: 380)
        let source = try Workshop.file(
            try await Workshop.make("full-q\(quality).\(ending)", of: Workshop.file(drawing.png)).content.bytes())
        let lowered = try await Workshop.make("full-q85.\(ending)", of: source)
        let asked = try await Workshop.make("full-q85.\(ending)", of: source, in: Self.asAsked)
        let score = try await Self.score(asked.content.bytes(), against: drawing)
        #expect(try await Self.score(lowered.content.bytes(), against: drawing) >= score - 8)
    }

    private static let asAsked: RendererPool = {
        var configuration = Workshop.configuration(count: 1)
        configuration.keepsBelowSource = false
        return RendererPool(configuration)
    }()

    private static func score(_ made: [UInt8], against pixels: Pixels) async throws -> Double {
        let folder = try TemporaryFolder()
        let (one, other) = (folder.url.appending(path: "made.png"), folder.url.appending(path: "reference.png"))
        try Data(try await Workshop.pixels(of: made).png).write(to: one)
        try Data(pixels.png).write(to: other)
        return try await SSIMULACRA2.score(one, against: other)
    }

    @Test("Each format is written with the effort that is set for it", arguments: [ImageFormat.webp, .avif])
    func effort(format: ImageFormat) async throws {
        let file = try await Self.source(.jpeg, width: 320, height: 240)
        func make(_ effort: [ImageFormat: Int]) async throws -> [UInt8] {
            var configuration = Workshop.configuration(count: 1)
            configuration.effort = effort
            let made = try await Workshop.render(file, in: RendererPool(configuration)) {
                [Workshop.order(300, 225, format, of: $0.size)]
            }
            return try made[0].content.bytes()
        }
        let low = try await make([.webp: 0, .avif: 0])
        let (webp, avif) = (try await make([.webp: 4, .avif: 0]), try await make([.webp: 0, .avif: 3]))
        #expect((webp != low) == (format == .webp) && (avif != low) == (format == .avif))
    }

    @Test("Nothing is spent beyond WebP's method 2 and AVIF's effort 1")
    func efforts() {
        #expect(ImageFormat.webp.output?.effort == 2 && ImageFormat.avif.output?.effort == 1)
    }

    /// chroma_subsampling_x and _y of AV1's configuration: 0 is 4:4:4.
    private static func subsampling(of avif: [UInt8]) throws -> UInt8 {
        let box = try #require(avif.indices.first { avif[$0...].starts(with: Array("av1C".utf8)) })
        return avif[box + 6] & 0x0c
    }

    /// SOF's marker, and how the first component is sampled.
    private static func frame(of jpeg: [UInt8]) throws -> (coding: UInt8, sampling: UInt8) {
        let start = try #require(jpeg.indices.first { jpeg[$0] == 0xff && [0xc0, 0xc2].contains(jpeg[$0 + 1]) })
        return (jpeg[start + 1], jpeg[start + 11])
    }

    private static func scans(_ jpeg: [UInt8]) -> Int {
        jpeg.indices.dropLast().count { jpeg[$0] == 0xff && jpeg[$0 + 1] == 0xda }
    }
}
