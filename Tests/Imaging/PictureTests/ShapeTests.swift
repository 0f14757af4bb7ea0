internal import ImageModel
internal import Ports
internal import Posix
internal import RendererPool
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@Suite("Pictures: turned, padded, with round corners, in grey", .timeLimit(.minutes(2)))
struct ShapeTests {
    private static func made(_ spec: String, of pixels: Pixels) async throws -> (RenderedVariant, Pixels) {
        let variant = try await Workshop.make(spec, of: try Workshop.file(pixels.png))
        return (variant, try #require(Pixels(png: try variant.content.bytes())))
    }

    /// A pixel of the source, by where it is shown.
    private static func turned(_ x: Int, _ y: Int, by degrees: Int, of source: Pixels) -> (x: Int, y: Int) {
        switch degrees {
        case 90: (y, source.height - 1 - x)
        case 180: (source.width - 1 - x, source.height - 1 - y)
        default: (source.width - 1 - y, x)
        }
    }

    @Test(
        "A turn is clockwise, after the source's own orientation, and loses no pixel", arguments: [90, 180, 270],
        [1, 6])
    func rotate(degrees: Int, orientation: Int) async throws {
        let source = Pixels.photograph(width: 60, height: 40, seed: 3)
        let stored = Sources.stored(source, orientation: orientation)
        let file = try Workshop.file(
            Sources.png(stored, with: [Pixels.chunk("eXIf", Sources.tiff(orientation: orientation))]))
        let variant = try await Workshop.make("full-rotate\(degrees).png", of: file)
        let shown = try #require(Pixels(png: try variant.content.bytes()))
        #expect(variant.size == (degrees == 180 ? PixelSize(width: 60, height: 40) : PixelSize(width: 40, height: 60)))
        for y in 0..<shown.height {
            for x in 0..<shown.width {
                let own = Self.turned(x, y, by: degrees, of: source)
                for c in 0..<3 { #expect(shown[x, y, c] == source[own.x, own.y, c]) }
            }
        }
    }

    @Test(
        "A turned picture is measured and cut as it is shown, also from a donor",
        arguments: [
            ("30x30-rotate90.png", 20, 30), ("30y10-rotate270-northwest.png", 30, 10), ("0x30-rotate180.png", 45, 30),
        ])
    func turnedSize(spec: String, width: Int, height: Int) async throws {
        let source = Pixels.photograph(width: 60, height: 40, seed: 3)
        let file = try Workshop.file(source.png)
        let variant = try await Workshop.make(spec, of: file)
        #expect(variant.size == PixelSize(width: width, height: height))
        // What another program turned first is cut alike.
        let degrees = spec.contains("90") ? 90 : spec.contains("270") ? 270 : 180
        let (_, whole) = try await Self.made("full-rotate\(degrees).png", of: source)
        let plain = spec.replacing("-rotate\(degrees)", with: "")
        let other = try await Workshop.make(plain, of: try Workshop.file(whole.png))
        let (one, two) = (
            try await Workshop.pixels(of: variant.content.bytes()), try await Workshop.pixels(of: other.content.bytes())
        )
        #expect(try #require(one.difference(from: two)) < 1)
        let donor = try await Workshop.make("full-q100.jpg", of: file).content.bytes()
        let reused = try await Workshop.make(spec, of: try Workshop.file(donor), isReuse: true)
        #expect(try #require(try await Workshop.pixels(of: reused.content.bytes()).difference(from: one)) < 4)
    }

    @Test("A padded variant has its size exactly: transparent around the picture, white as JPEG, or the background")
    func pad() async throws {
        let source = Sources.flat([0, 0, 200], width: 80, height: 40)
        let (variant, clear) = try await Self.made("50x50-pad.png", of: source)
        #expect(variant.size == PixelSize(width: 50, height: 50) && variant.hasAlpha && clear.channels == 4)
        // 50 by 25 from row 12.
        #expect(clear[25, 11, 3] == 0 && clear[0, 12, 3] == 255 && clear[49, 36, 3] == 255 && clear[25, 37, 3] == 0)
        #expect(clear[25, 25, 2] == 200)
        let (_, red) = try await Self.made("50x50-pad-bgff0000.png", of: source)
        #expect(red.channels == 3 && red[25, 5, 0] == 255 && red[25, 5, 2] == 0 && red[25, 25, 2] == 200)
        let white = try await Workshop.make("50x50-pad.jpg", of: try Workshop.file(source.png))
        #expect(white.size == variant.size && !white.hasAlpha)
        #expect(try await Workshop.pixels(of: white.content.bytes())[25, 5, 1] > 250)
        // Nothing is enlarged, and what fills its box gets no alpha.
        let (_, small) = try await Self.made("100x60-pad.png", of: source)
        #expect(small.width == 100 && small.height == 60 && small[9, 30, 3] == 0 && small[10, 30, 3] == 255)
        #expect(try await !Workshop.make("40x20-pad.png", of: try Workshop.file(source.png)).hasAlpha)
        let (_, turned) = try await Self.made("50x50-pad-rotate90.png", of: source)
        #expect(turned[11, 25, 3] == 0 && turned[12, 0, 3] == 255)
    }

    @Test("Corners are cut along an arc, a watermark's and a border's too")
    func corners() async throws {
        let source = Sources.flat([0, 0, 200], width: 80, height: 40)
        let (variant, round) = try await Self.made("full-round10.png", of: source)
        #expect(variant.hasAlpha)
        // 10 - √2 × 10 / 2 = 2.9 pixels in from the corner along the diagonal.
        #expect(round[0, 0, 3] == 0 && round[2, 2, 3] < 128 && round[3, 3, 3] > 128 && round[5, 5, 3] == 255)
        #expect(round[79, 39, 3] == 0 && round[40, 0, 3] == 255 && round[0, 20, 3] == 255 && round[10, 0, 3] > 250)
        let (_, circle) = try await Self.made("40y40-circle.png", of: source)
        let covered = (0..<1600).reduce(0) { $0 + Int(circle.bytes[$1 * 4 + 3]) } / 255
        #expect(abs(covered - 1257) < 6, "\(covered) of 20² π pixels")
        let white = try await Workshop.make("40y40-circle.jpg", of: try Workshop.file(source.png))
        let shown = try await Workshop.pixels(of: white.content.bytes())
        #expect(shown[0, 0, 0] > 240 && shown[20, 20, 0] < 15)
        let (_, red) = try await Self.made("40y40-circle-bgff0000.png", of: source)
        #expect(red.channels == 3 && red[0, 0, 0] == 255 && red[0, 0, 2] == 0)
        // More than half of the shorter side is half of it.
        #expect(try await Self.made("40y40-round1000.png", of: source).1 == circle)
    }

    @Test(
        "Grey has the lightness of its colours: one channel where the format has it",
        arguments: [
            ("full-grey.png", 1), ("full-q95-grey.jpg", 1), ("full-q95-grey.webp", 3), ("full-q95-grey.avif", 1),
        ])
    func grey(spec: String, channels: Int) async throws {
        // 0.2, 0.7 and 0.1 of the light, as sRGB.
        for (colour, level) in [([255, 0, 0], 124), ([0, 255, 0], 218), ([0, 0, 255], 89)] as [([UInt8], Int)] {
            let made = try await Workshop.make(spec, of: try Workshop.file(Sources.flat(colour).png))
            let bytes = try made.content.bytes()
            let shown = try await Workshop.pixels(of: bytes)
            #expect((0..<shown.channels).allSatisfy { abs(Int(shown[20, 20, $0]) - level) <= 3 }, "\(colour)")
            if spec.hasSuffix("png") { #expect(try #require(Pixels(png: bytes)).channels == channels) }
            if spec.hasSuffix("jpg") {
                let frame = try #require(bytes.indices.first { bytes[$0] == 0xff && bytes[$0 + 1] == 0xc0 })
                #expect(bytes[frame + 9] == UInt8(channels))
            }
            if spec.hasSuffix("avif") {
                // `pixi`: version, flags, channels.
                let box = try #require(bytes.firstRange(of: Array("pixi".utf8)))
                #expect(bytes[box.upperBound + 4] == UInt8(channels))
            }
        }
    }

    @Test("What moves is turned, padded and cut in each frame")
    func moving() async throws {
        let source = Sources.gif(
            width: 60, height: 40, colours: [[200, 0, 0], [0, 200, 0]], delays: [5, 20], loops: nil)
        let made = try await Workshop.make("30x30-rotate90-pad-round4-grey.webp", of: try Workshop.file(source))
        #expect(made.rendition.frames == 2 && made.size == PixelSize(width: 30, height: 30) && made.hasAlpha)
    }
}
