import Failures
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

/// Each hazard of libvips 8.14.1 that touches what is rendered, with a test that was seen to fail without its cure.
@Suite("Pictures: what libvips 8.14.1 does unless one prevents it", .timeLimit(.minutes(2)))
struct HazardTests {
    private static let formats: [ImageFormat] = [.jpeg, .png, .webp]

    /// Seen to fail: without `WebPContainer.bare` an EXIF chunk of 12 fields is in every WebP (libvips#3340); without
    /// `withoutMetadata` the GPS fields are in it.
    @Test("No metadata comes out: no EXIF, GPS, XMP, IPTC, comment or profile", arguments: formats)
    func metadata(format: ImageFormat) async throws {
        let pixels = Pixels.photograph(width: 200, height: 150, seed: 3)
        let made = try await Workshop.render(try Workshop.file(pixels.png)) {
            [Workshop.order(200, 150, .jpeg, of: $0.size)]
        }
        let jpeg = Sources.photographed(try made[0].content.bytes())
        let png = Sources.png(
            pixels,
            with: [Sources.profileChunk(Sources.exchangedProfile), Pixels.chunk("eXIf", Sources.tiff(orientation: 1))])
        for source in [jpeg, png] {
            // Whole and reduced: they go different ways.
            let variants = try await Workshop.render(try Workshop.file(source)) {
                [Workshop.order(200, 150, format, of: $0.size), Workshop.order(99, 75, format, of: $0.size)]
            }
            for variant in variants {
                let bytes = try variant.content.bytes()
                #expect(parts(of: bytes, format).isSubset(of: Self.allowed), "\(format)")
                for secret in ["Exif", "secret", "xmp", "ICC"] {
                    #expect(!contains(bytes, secret), "\(secret) in \(format)")
                }
            }
        }
    }
    private static let allowed: Set<String> = [
        "IHDR", "IDAT", "IEND", "PLTE", "pHYs", "VP8 ", "VP8L", "e0", "db", "c0", "c4", "da",
    ]

    /// Seen to fail with an export of every picture: levels fall by 2 to 10 (libvips#3491).
    @Test(
        "An untagged picture keeps its levels",
        arguments: [[100, 150, 200], [12], [90, 128], [40, 80, 120, 255], [40, 80, 120, 128]] as [[UInt8]])
    func untagged(colour: [UInt8]) async throws {
        let file = try Workshop.file(Sources.flat(colour).png)
        for (width, height) in [(60, 40), (30, 20), (90, 60)] {
            let pixels = try await Workshop.pixels(file, width, height)
            // Alpha that is opaque is dropped.
            let shown = colour.count == 4 && colour[3] == 255 ? 3 : colour.count
            #expect(pixels.channels == shown)
            for channel in 0..<shown {
                #expect(pixels[width / 2, height / 2, channel] == colour[channel], "\(width)")
            }
        }
    }

    /// Seen to fail without `inSRGB`: red stays red. With alpha it is also the shape of libvips#3647's crash.
    @Test(
        "An embedded profile is applied, once, also with alpha and 16 bits",
        arguments: [[200, 30, 30], [200, 30, 30, 128]] as [[UInt8]], [8, 16])
    func profile(colour: [UInt8], depth: Int) async throws {
        let flat = Sources.flat(colour)
        let chunk = Sources.profileChunk(Sources.exchangedProfile)
        let file = try Workshop.file(depth == 8 ? Sources.png(flat, with: [chunk]) : wide(flat, chunk))
        // Two sizes, so that one is made of the other's pixels.
        let variants = try await Workshop.render(file) {
            [Workshop.order(30, 20, .png, of: $0.size), Workshop.order(9, 6, .png, of: $0.size)]
        }
        for variant in variants {
            let pixels = try #require(Pixels(png: try variant.content.bytes()))
            #expect(pixels[3, 3, 0] < 80 && pixels[3, 3, 1] > 170, "\(pixels.bytes.prefix(4))")
            if colour.count == 4 { #expect(abs(Int(pixels[3, 3, 3]) - 128) <= 1) }
        }
    }

    /// Seen to fail: a profile made three channels of one.
    @Test(
        "Grey stays grey, with its profile applied", arguments: [[128], [128, 128]] as [[UInt8]],
        ["full.png", "30x20.png"])
    func grey(level: [UInt8], spec: String) async throws {
        let png = Sources.png(Sources.flat(level), with: [Sources.profileChunk(Sources.squareProfile)])
        let made = try await Workshop.make(spec, of: try Workshop.file(png))
        let pixels = try #require(Pixels(png: try made.content.bytes()))
        #expect(pixels.channels == level.count)
        // A light of (128/255)² is level 137 of sRGB.
        #expect(abs(Int(pixels[4, 4, 0]) - 137) <= 2, "\(pixels[4, 4, 0])")
        if level.count == 2 { #expect(abs(Int(pixels[4, 4, 1]) - 128) <= 1) }
        let jpeg = try await Workshop.make("full.jpg", of: try Workshop.file(png)).content.bytes()
        // One component in its frame header.
        let frame = try #require(jpeg.indices.first { jpeg[$0...].starts(with: [0xff, 0xc0]) })
        #expect(jpeg[frame + 9] == 1)
    }

    /// In JPEGs, since libpng drops such profiles by itself. Seen to fail without the check of the profile's colour space
    /// and the way out of `inSRGB` together: libvips finds no profile for grey pixels then (libvips#3399).
    @Test(
        "A profile that does not fit the pixels, or is damaged, means sRGB",
        arguments: [[77], [100, 150, 200]] as [[UInt8]], [false, true])
    func unfitProfile(colour: [UInt8], isDamaged: Bool) async throws {
        let made = try await Workshop.render(try Workshop.file(Sources.flat(colour).png)) {
            [Workshop.order(60, 40, .jpeg, of: $0.size, quality: 100)]
        }
        let damaged = Array(Sources.exchangedProfile.prefix(200)) + [UInt8](repeating: 0xff, count: 300)
        let profile = isDamaged ? damaged : colour.count == 1 ? Sources.exchangedProfile : Sources.greyProfile
        let file = try Workshop.file(Sources.tagged(try made[0].content.bytes(), profile))
        // A blur is libvips's, whoever takes the picture else.
        for option in ["", "-blur1"] {
            let made = try await Workshop.make("30x30\(option).png", of: file)
            let pixels = try #require(Pixels(png: try made.content.bytes()))
            for channel in colour.indices { #expect(abs(Int(pixels.bytes[channel]) - Int(colour[channel])) <= 2) }
        }
    }

    /// Seen to fail without `fail_on` in the loader: grey halves come out as good pictures.
    @Test("A truncated picture is refused, decoded whole or scaled", arguments: formats + [.avif, .gif], [600, 60])
    func truncated(format: ImageFormat, width: Int) async throws {
        let whole = try await Workshop.render(
            try Workshop.file(Pixels.photograph(width: 600, height: 400, seed: 2).png)
        ) {
            [Workshop.order(600, 400, format, of: $0.size)]
        }
        let bytes = try whole[0].content.bytes()
        let file = try Workshop.file(Array(bytes.prefix(bytes.count * 3 / 5)))
        // A blur is libvips's, whatever the format.
        for option in ["", "-blur1"] {
            await #expect { try await Workshop.make("\(width)x\(width)\(option).png", of: file) } throws: {
                ($0 as? RenderFailure)?.code == "render.truncated"
            }
        }
    }

    /// Seen to fail: the rows that no data made came out grey. Data that end within the last row of blocks, as a few cameras write
    /// them, pass: the header adds 6 rows to 400 there, and 28 above.
    @Test(
        "A JPEG whose data end above its last row of blocks is refused, by either engine",
        arguments: HeightLie.Kind.allCases, [HeightLie(28), HeightLie(3_600), HeightLie(6), HeightLie(0, keeps: 0.6)])
    func missingRows(kind: HeightLie.Kind, lie: HeightLie) async throws {
        let file = try Workshop.file(lie.told(of: try await kind.file()))
        for pool in [Workshop.everything, Workshop.libvips] {
            // A blur is libvips's, whatever the format; AVIF is written by libvips of the direct path's pixels.
            for spec in ["60x600.png", "60x600-blur1.png", "full.avif"] {
                if lie.rows == 6 {
                    _ = try await Workshop.make(spec, of: file, in: pool)
                } else {
                    await #expect("\(spec)") { try await Workshop.make(spec, of: file, in: pool) } throws: {
                        ($0 as? RenderFailure)?.code == "render.malformed"
                    }
                }
            }
        }
    }

    /// Seen to fail while nothing looked for the end: what lacks no pixel was said to be whole.
    @Test(
        "A file that ends early is known as truncated; it is rendered where its decoder finds all of its pixels",
        arguments: [
            (ImageFormat.png, 12, true), (.png, 13, false), (.gif, 1, true), (.jpeg, 2, false), (.webp, 1, false),
            (.avif, 1, false),
        ])
    func shortened(format: ImageFormat, lacks: Int, isRendered: Bool) async throws {
        let pixels = Pixels.photograph(width: 120, height: 80, seed: 2)
        let whole = try await Workshop.make("full.\(format.suffix)", of: try Workshop.file(pixels.png)).content.bytes()
        #expect(!(try await Workshop.pool.inspect(try Workshop.file(whole)).facts.ofSource.isTruncated))
        let short = try Workshop.file(Array(whole.dropLast(lacks)))
        #expect(try await Workshop.pool.inspect(short).facts.ofSource.isTruncated)
        if isRendered {
            #expect(try await Workshop.make("60x60.webp", of: short).size == PixelSize(width: 60, height: 40))
        } else {
            await #expect { try await Workshop.make("60x60.webp", of: short) } throws: {
                ($0 as? RenderFailure)?.code == "render.truncated"
            }
        }
    }

    /// Seen to fail without `forgetErrors`: the PNG was said to have a corrupt JPEG's marker.
    @Test("One picture's warnings are not another's reason")
    func reasons() async throws {
        let pool = RendererPool(Workshop.configuration(count: 1))
        let made = try await Workshop.render(try Workshop.file(Pixels.map(width: 60, height: 40).png), in: pool) {
            [Workshop.order(60, 40, .jpeg, of: $0.size)]
        }
        var warned = try made[0].content.bytes()
        warned.insert(contentsOf: [1, 2, 3, 4], at: 20)
        // A blur is libvips's, and so are the warnings.
        _ = try await Workshop.make("30x30-blur1.png", of: try Workshop.file(warned), in: pool)
        var damaged = Pixels.map(width: 60, height: 40).png
        damaged[200] ^= 0xff
        await #expect {
            try await Workshop.render(try Workshop.file(damaged), in: pool) {
                [Workshop.order(30, 20, .png, of: $0.size)]
            }
        } throws: { ($0 as? RenderFailure)?.code == "render.malformed" && !"\($0)".contains("JPEG") }
        await pool.stop()
    }

    /// Seen to fail without premultiplication: the hidden red shows in the edge.
    @Test("What is transparent does not bleed into edges, and JPEG shows white there")
    func transparency() async throws {
        var pixels = Sources.flat([255, 0, 0, 0], width: 64, height: 64)
        for y in 0..<64 {
            for x in 0..<29 {
                pixels.bytes.replaceSubrange((y * 64 + x) * 4..<(y * 64 + x) * 4 + 4, with: [0, 200, 0, 255])
            }
        }
        let file = try Workshop.file(pixels.png)
        let small = try await Workshop.pixels(file, 16, 16)
        for x in 0..<16 where small[x, 8, 3] > 20 { #expect(small[x, 8, 0] < 12, "column \(x)") }
        #expect(small[15, 8, 3] == 0)
        let jpeg = try await Workshop.render(file) { [Workshop.order(16, 16, .jpeg, of: $0.size, quality: 95)] }
        #expect(!jpeg[0].hasAlpha)
        let flat = try await Workshop.pixels(try Workshop.file(try jpeg[0].content.bytes()), 16, 16)
        #expect((0..<3).allSatisfy { flat[14, 8, $0] > 250 })
    }

    @Test("Sixteen bits become eight by their upper half")
    func sixteenBits() async throws {
        let pixels = try await Workshop.pixels(try Workshop.file(wide(Sources.flat([100, 150, 200]), [])), 30, 20)
        #expect(pixels.bytes.prefix(3) == [100, 150, 200])
    }

    @Test("A small output made of a larger one is the picture that its own decode gives")
    func ladder() async throws {
        let file = try Workshop.file(Pixels.photograph(width: 900, height: 600, seed: 5).png)
        let both = try await Workshop.render(file) {
            [Workshop.order(600, 400, .png, of: $0.size), Workshop.order(150, 100, .png, of: $0.size)]
        }
        let small = try #require(Pixels(png: try both[1].content.bytes()))
        let alone = try await Workshop.pixels(file, 150, 100)
        #expect(try #require(small.difference(from: alone)) < 1.5)
        #expect(
            try #require(small.difference(from: alone)) < #require(small.difference(from: alone, movedBy: (1, 0))) / 3)
    }

    @Test(
        "CMYK comes out as sRGB, by its own profile or the usual one",
        .enabled(if: Shared.has("images/formats"), Comment(rawValue: Shared.absent)))
    func cmyk() async throws {
        var shown: [Pixels] = []
        for name in ["channel-digital-image-cmyk-color.jpg", "channel-digital-image-cmyk-color-no-profile.jpg"] {
            let url = try #require(Shared.part("images/formats/\(name)"))
            shown.append(try await Workshop.pixels(try Workshop.file(url), 100, 67))
        }
        #expect(shown.allSatisfy { $0.channels == 3 })
        #expect(try #require(shown[0].difference(from: shown[1])) < 25)
    }

    /// The same picture in 16 bits, the lower half nought.
    private func wide(_ pixels: Pixels, _ chunk: [UInt8]) -> [UInt8] {
        var rows: [UInt8] = []
        let stride = pixels.width * pixels.channels
        for y in 0..<pixels.height { rows += [0] + pixels.bytes[y * stride..<(y + 1) * stride].flatMap { [$0, 0] } }
        var header = Array(pixels.png[16..<29])
        header[8] = 16
        var bytes = Array(pixels.png[..<8]) + Pixels.chunk("IHDR", header)
        bytes += chunk
        bytes += Pixels.chunk("IDAT", Sources.stored(rows))
        return bytes + Pixels.chunk("IEND", [])
    }

    /// Chunk names, or a JPEG's markers in hex.
    private func parts(of bytes: [UInt8], _ format: ImageFormat) -> Set<String> {
        var parts: Set<String> = []
        func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 << 8 | Int($1) } }
        var offset = format == .jpeg ? 2 : format == .png ? 8 : 12
        while offset + 8 < bytes.count, parts.count < 100 {
            switch format {
            case .jpeg:
                parts.insert(String(bytes[offset + 1], radix: 16))
                if bytes[offset + 1] == 0xda { return parts }
                offset += 2 + number(offset + 2..<offset + 4)
            case .png:
                parts.insert(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self))
                offset += 12 + number(offset..<offset + 4)
            default:
                parts.insert(String(decoding: bytes[offset..<offset + 4], as: UTF8.self))
                let length = bytes[offset + 4..<offset + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
                offset += 8 + length + length % 2
            }
        }
        return parts
    }

    private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let pattern = Array(text.utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: pattern) }
    }
}
