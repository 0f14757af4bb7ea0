internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RenderProtocol
internal import RendererPool
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@Suite("Pictures: every format in and out", .timeLimit(.minutes(2)))
struct FormatTests {
    private static let formats: [ImageFormat] = [.jpeg, .png, .webp, .avif, .gif]

    @Test("What is written in a format is that format, of that size, and the same picture", arguments: formats)
    func written(format: ImageFormat) async throws {
        let photograph = Pixels.photograph(width: 301, height: 200, seed: 4)
        let file = try Workshop.file(photograph.png)
        let made = try await Workshop.make("full-q90.\(format.suffix)", of: file)
        let facts = try await Workshop.pool.inspect(try Workshop.file(try made.content.bytes())).facts
        #expect(facts.format == format && facts.size == PixelSize(width: 301, height: 200) && facts.frames == 1)
        let pixels = try await Workshop.pixels(of: try made.content.bytes())
        let difference = try #require(pixels.difference(from: photograph))
        #expect(difference < (format == .gif ? 14 : format == .png ? 0.01 : 6), "\(format): \(difference)")
    }

    @Test("Small and thin pictures come out in every format", arguments: formats, [(1, 1), (1, 40), (40, 1), (17, 15)])
    func small(format: ImageFormat, size: (Int, Int)) async throws {
        let file = try Workshop.file(Pixels.photograph(width: 40, height: 40, seed: 4).png)
        let made = try await Workshop.render(file) { [Workshop.order(size.0, size.1, format, of: $0.size)] }
        let read = try await Workshop.pool.inspect(try Workshop.file(try made[0].content.bytes())).facts
        #expect(read.size == PixelSize(width: size.0, height: size.1))
        #expect(try await Workshop.pixels(of: try made[0].content.bytes()).width == size.0)
    }

    @Test("Transparency comes out in every format that has it", arguments: formats)
    func transparency(format: ImageFormat) async throws {
        var pixels = Sources.flat([0, 160, 0, 255], width: 60, height: 40)
        for y in 0..<40 { for x in 30..<60 { pixels.bytes[(y * 60 + x) * 4 + 3] = 0 } }
        let made = try await Workshop.make("full-q90.\(format.suffix)", of: try Workshop.file(pixels.png))
        #expect(made.hasAlpha == format.holdsAlpha)
        let read = try await Workshop.pixels(of: try made.content.bytes())
        #expect(abs(Int(read[10, 20, 1]) - 160) < 8)
        if format.holdsAlpha {
            #expect(read.channels == 4 && read[10, 20, 3] == 255 && read[50, 20, 3] == 0)
        } else {
            #expect(read[50, 20, 0] > 250)
        }
    }

    @Test(
        "Each format is read for what it is",
        .enabled(if: Shared.has("images/formats"), Comment(rawValue: Shared.absent)),
        arguments: [
            ("animated-loop-3.gif", ImageFormat.gif), ("cheers-1440x960.heic", .heic), ("exif-at-eof.heic", .heic),
            ("avif-orientation-6.avif", .avif), ("pitm.avif", .avif), ("grey-plus-alpha.gif", .gif),
            ("sdr-cosmos12920-cicp1-13-6-yuv444-full-qp10.avif", .avif), ("8bit-depth.tiff", .tiff),
            ("uncompressed-tiff.tiff", .tiff), ("g31d-multi.tif", .tiff),
            ("multipage.tif", .tiff), ("cielab-dagams.tiff", .tiff), ("check.svg", .svg),
            ("struct-image-04-t.svg", .svg),
        ])
    func read(name: String, format: ImageFormat) async throws {
        let url = try #require(Shared.part("images/formats/\(name)"))
        let facts = try await Workshop.everything.inspect(try Workshop.file(url)).facts
        #expect(facts.format == format)
        let made = try await Workshop.make("60x60.png", of: try Workshop.file(url), in: Workshop.everything)
        #expect(Pixels(png: try made.content.bytes())?.width == made.size.width)
    }
    @Test("A JPEG XL is read where the settings name it, and its variants keep its copyright")
    func jxl() async throws {
        let packet = try #require(PictureRights(notice: "A").packet)
        let boxed = Bombs.box("JXL ", [13, 10, 0x87, 10]) + Bombs.box("ftyp", Array("jxl \0\0\0\0jxl ".utf8))
            + Bombs.box("jxlc", Sources.jxl) + Bombs.box("xml ", packet)
        for (bytes, notice) in [(Sources.jxl, ""), (boxed, "A")] {
            let made = try await Workshop.make("30x30.png", of: try Workshop.file(bytes), in: Workshop.everything)
            let content = try made.content.bytes()
            let pixels = try #require(Pixels(png: content))
            #expect(made.size == PixelSize(width: 30, height: 20) && Array(pixels.bytes.prefix(3)) == [200, 90, 30])
            #expect(try await Workshop.pool.inspect(try Workshop.file(content)).facts.rights.notice == notice)
        }
    }

    /// libvips's own list of what is untrusted lets HEIF, AVIF and TIFF through.
    @Test(
        "A format that the settings do not name is refused before anything decodes it, and its loader is shut",
        arguments: [ImageFormat.gif, .avif, .tiff, .svg, .jpeg, .webp])
    func unnamed(format: ImageFormat) async throws {
        var configuration = Workshop.configuration(count: 1)
        configuration.limits.formats = [.png]
        let pool = RendererPool(configuration)
        let pixels = Sources.flat([255, 0, 0])
        let bytes =
            switch format {
            case .tiff: Sources.tiff(of: pixels, kind: 2)
            case .svg: Array("<svg xmlns='http://www.w3.org/2000/svg' width='60' height='40'/>".utf8)
            default: try await Workshop.make("full.\(format.suffix)", of: try Workshop.file(pixels.png)).content.bytes()
            }
        await #expect(throws: RenderFailure.unsupported(format)) {
            try await Workshop.make("10x10.png", of: try Workshop.file(bytes), in: pool)
        }
        // Told that it may, the child still has no loader for it.
        let picture = try await Workshop.everything.inspect(try Workshop.file(bytes))
        await #expect {
            try await pool.render(
                picture, [try Workshop.order("10x10.png", of: picture.facts.size)], isReuse: false)
        } throws: { "\($0)".contains("blocked") }
        await pool.stop()
    }

    /// Seen to fail: libvips counts 72 dots to an inch, and its size was not that of the header.
    @Test(
        "An SVG is drawn in the size of its root, whatever its unit is",
        arguments: [
            "width='21mm' height='10mm' viewBox='0 0 21 10'", "width='1in' height='0.5in' viewBox='0 0 20 10'",
            "width='10em' height='5em' viewBox='0 0 20 10'", "width='200' viewBox='0 0 20 10'",
            "height='50' viewBox='0 0 20 10'", "viewBox='0\n0\n20\n10'", "width='100%' viewBox='0 0 20 10'",
            // Two units. They were refused: "its header has 378x60, the decoder gives 378x80".
            "width='100mm' height='60' viewBox='0 0 20 10' preserveAspectRatio='none'",
            "width='100' height='60mm' viewBox='0 0 20 10' preserveAspectRatio='none'",
            "font-size='20' width='10em' height='5em' viewBox='0 0 20 10'",
            "style='font-size:9pt' width='10em' height='60' viewBox='0 0 20 10' preserveAspectRatio='none'",
            "height='60' width='10em' viewBox='0 0 20 10' preserveAspectRatio='none'",
            "width='120' height='2in' viewBox='0 0 20 10' preserveAspectRatio='none'",
            "width='72pt' height='60px' viewBox='0 0 20 10' preserveAspectRatio='none'",
            "width='0.2in' height='10'", "width='20' height='7.5pt'",
        ])
    func drawn(root: String) async throws {
        let text =
            "<svg xmlns='http://www.w3.org/2000/svg' \(root)><rect x='10' width='11' height='10' fill='#c00'/></svg>"
        let file = try Workshop.file(Array(text.utf8))
        let size = try await Workshop.everything.inspect(file).facts.size
        let made = try await Workshop.make("full.png", of: file, in: Workshop.everything)
        let pixels = try #require(Pixels(png: try made.content.bytes()))
        #expect(made.size == size)
        // The right part is red nearly to the corner, since its sides are no whole pixels, and the left part is bare.
        let corner = (0..<4).map { pixels[size.width - 3, size.height - 3, $0] }
        #expect(corner == [204, 0, 0, 255], "\(corner)")
        #expect(pixels[1, 1, 3] == 0)
    }

    @Test("TIFF, JPEG XL and SVG are read only where they are named", arguments: [ImageFormat.tiff, .jxl, .svg])
    func explicit(format: ImageFormat) { #expect(!RenderLimits().formats.contains(format)) }

    @Test(
        "AVIFs and HEICs are read upright, and their size is what people see",
        .enabled(if: Shared.has("images/formats"), Comment(rawValue: Shared.absent)))
    func upright() async throws {
        let url = try #require(Shared.part("images/formats/avif-orientation-6.avif"))
        let facts = try await Workshop.pool.inspect(try Workshop.file(url)).facts
        #expect(facts.orientation == 1 && facts.size.height > facts.size.width, "\(facts.size)")
    }
}
