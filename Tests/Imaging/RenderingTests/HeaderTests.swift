import Failures
internal import Images
internal import Posix
internal import TestPixels
internal import Testing
internal import VariantSpec

@testable internal import ImageHeaders
@testable internal import RenderProtocol

@Suite("Headers: what a picture is, read before anything decodes it", .timeLimit(.minutes(1)))
struct HeaderTests {
    @Test(
        "A format is known by its content",
        arguments: [
            ([0x47, 0x49, 0x46, 0x38, 0x39, 0x61], ImageFormat.gif),
            ([0x49, 0x49, 42, 0], .tiff), ([0x4d, 0x4d, 0, 42], .tiff),
            ([0xff, 0x0a], .jxl), ([0, 0, 0, 12, 0x4a, 0x58, 0x4c, 0x20, 13, 10], .jxl),
            ([0, 0, 0, 20] + Array("ftypavif".utf8), .avif), ([0, 0, 0, 20] + Array("ftypheic".utf8), .heic),
            ([0, 0, 0, 24] + Array("ftypmif1".utf8) + [0, 0, 0, 0] + Array("mif1avif".utf8), .avif),
            (Array("\u{feff} <?xml version='1.0'?><svg/>".utf8), .svg),
        ] as [([UInt8], ImageFormat)])
    func unsupported(bytes: [UInt8], format: ImageFormat) throws {
        let inspector = PictureInspector(limits: RenderLimits(formats: [.jpeg, .png, .webp]))
        #expect(throws: RenderFailure.unsupported(format)) { try inspector.inspect(Samples.file(bytes)) }
    }

    @Test(
        "Files that are not images are refused with their first bytes in words",
        arguments: [
            ("<html>", "it begins with the text “<html>”"),
            ("404 not\nfound, sorry to say", "it begins with the text “404 not found, s”"),
            ("", "it is empty"), ("\u{01}\u{02}", "it begins with the bytes 01 02"),
            ("<!DOCTYPE html><body><svg width='24' height='24'/>", "it begins with the text “<!DOCTYPE html><”"),
            ("<!-- <svg/>", "it begins with the text “<!-- <svg/>”"),
            ("BMW, sorry to say, and more", "it begins with the text “BMW, sorry to sa”"),
            ("{\"error\": \"not found\"}", "it is JSON, and begins with the text “{\"error\": \"not f”"),
            ("[\n {\"a\":1}]", "it is JSON, and begins with the text “[ {\"a\":1}]”"),
            ("[Desktop Entry]", "it begins with the text “[Desktop Entry]”"),
            ("%PDF-1.7\n1 0 obj", "it is a PDF document, and begins with the text “%PDF-1.7 1 0 obj”"),
        ])
    func unrecognised(text: String, reason: String) {
        #expect(throws: RenderFailure.unrecognised(reason: reason)) { try facts(Array(text.utf8)) }
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(
        "What is of another format is refused by that format's name",
        arguments: [
            (text("BM") + [198, 0, 0, 0, 0, 0, 0, 0, 118, 0, 0, 0, 40, 0, 0, 0], "a BMP image"),
            ([0, 0, 1, 0, 1, 0, 16, 16], "an ICO icon"), ([0, 0, 2, 0, 1, 0, 16, 16], "a CUR cursor"),
            (text("%PDF-1.7\n%") + [0xe2, 0xe3], "a PDF document"), ([0x1f, 0x8b, 8, 0, 0, 0, 0, 0], "gzip data"),
            (text("PK\u{3}\u{4}"), "a ZIP archive"), (text("8BPS") + [0, 1], "a Photoshop document"),
            ([0, 0, 0, 24] + text("ftypmp42") + [0, 0, 0, 0] + text("mp42isom"), "an MP4 video"),
            ([0, 0, 0, 32] + text("ftypisom"), "an MP4 video"),
            ([0, 0, 0, 20] + text("ftypqt  "), "a QuickTime video"),
            ([0, 0, 0, 8] + text("wide") + [0, 0, 1, 0] + text("mdat"), "a QuickTime video"),
            ([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84] + text("webm"), "a WebM video"),
            ([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x88] + text("matroska"), "a Matroska video"),
            (text("RIFF") + [9, 0, 0, 0] + text("AVI LIST"), "an AVI video"),
            ([0, 0, 1, 0xba, 0x44, 0], "an MPEG video"), ([0, 0, 1, 0xb3, 0x14, 0], "an MPEG video"),
            ([UInt8]((0..<3).map { _ in [0x47] + [UInt8](repeating: 0, count: 187) }.joined()), "an MPEG video"),
        ] as [([UInt8], String)])
    func foreign(bytes: [UInt8], name: String) {
        let reason = RenderFailure.unrecognised(reason: "it is \(name)")
        #expect(throws: reason) { try facts(bytes) }
    }

    @Test("A JPEG's size, orientation and kind come from its markers")
    func jpeg() throws {
        let plain = try facts(Samples.jpeg(width: 640, height: 480))
        #expect(
            plain
                == PictureFacts(
                    format: .jpeg, size: PixelSize(width: 640, height: 480), orientation: 1, frames: 1, hasAlpha: false)
        )
        for isBig in [true, false] {
            let turned = try facts(
                Samples.jpeg(width: 640, height: 480, segments: [Samples.exif(6, isBigEndian: isBig)]))
            #expect(turned.size == PixelSize(width: 480, height: 640))
            #expect(turned.orientation == 6)
        }
        for nonsense in [0, 9, 65_535] {
            #expect(try facts(Samples.jpeg(width: 9, height: 9, segments: [Samples.exif(nonsense)])).orientation == 1)
        }
    }

    @Test(
        "A JPEG that cannot be decoded is refused with the reason",
        arguments: [
            (Samples.jpeg(width: 9, height: 9, coding: 0xc3), "SOF3", "render.unsupported"),
            (Samples.jpeg(width: 9, height: 9, coding: 0xf7), "JPEG-LS", "render.unsupported"),
            (Samples.jpeg(width: 9, height: 9, depth: 12), "12 bits", "render.unsupported"),
            (Samples.jpeg(width: 9, height: 9, components: 2), "2 components", "render.unsupported"),
            (Samples.jpeg(width: 9, height: 9, depth: 74), "74 bits", "render.malformed"),
            (Samples.jpeg(width: 9, height: 0), "9×0", "render.malformed"),
            (Array(Samples.jpeg(width: 9, height: 9).prefix(4)), "before its size", "render.malformed"),
            (Array(Samples.jpeg(width: 9, height: 9).prefix(21)), "before its pixels", "render.malformed"),
        ] as [([UInt8], String, String)])
    func badJPEG(bytes: [UInt8], reason: String, code: String) {
        #expect { try facts(bytes) } throws: {
            ($0 as? RenderFailure)?.code == code && "\($0)".contains(reason)
        }
    }

    @Test("64 scans are read, 65 are refused; one scan with every component is not searched for more")
    func scans() throws {
        #expect(try facts(Samples.jpeg(width: 9, height: 9, coding: 0xc2, scans: 64)).frames == 1)
        #expect(throws: RenderFailure.tooManyScans(limit: 64)) {
            try facts(Samples.jpeg(width: 9, height: 9, coding: 0xc2, scans: 65))
        }
        #expect(throws: RenderFailure.tooManyScans(limit: 64)) {
            try facts(Samples.jpeg(width: 9, height: 9, scans: 65, scanComponents: 1))
        }
        #expect(try facts(Samples.jpeg(width: 9, height: 9, scans: 65)).size.width == 9)
        // Only the first tells a decoder whether there are others: one that is whole behind it ends nothing.
        let partial = Samples.jpeg(width: 9, height: 9, scans: 1, scanComponents: 1).dropLast(2)
        let whole = Samples.jpeg(width: 9, height: 9, scans: 64)
        let scan = try #require(whole.indices.dropLast().first { whole[$0] == 0xff && whole[$0 + 1] == 0xda })
        #expect(throws: RenderFailure.tooManyScans(limit: 64)) { try facts(Array(partial) + whole[scan...]) }
    }

    @Test("Pixels, chunks and memory have limits")
    func limits() throws {
        #expect(throws: RenderFailure.tooManyPixels(PixelSize(width: 20_000, height: 20_000), limit: 268_435_456)) {
            try facts(Samples.png(width: 20_000, height: 20_000))
        }
        #expect(
            throws: RenderFailure.tooManyPixels(
                PixelSize(width: 2_147_483_647, height: 2_147_483_647), limit: 268_435_456)
        ) {
            try facts(Samples.png(width: 2_147_483_647, height: 2_147_483_647))
        }
        let chunks = [UInt8]((0..<65_536).flatMap { _ in Pixels.chunk("tEXt", []) })
        #expect(throws: RenderFailure.tooManyChunks(limit: 65_536)) {
            try facts(Samples.png(width: 8, height: 8, before: chunks))
        }
        // 10,000 × 10,000 in 16-bit RGB is 600 MB: line by line it passes, interlaced it must be held whole.
        #expect(try facts(Samples.png(width: 10_000, height: 10_000, depth: 16)).size.width == 10_000)
        #expect { try facts(Samples.png(width: 10_000, height: 10_000, depth: 16, interlace: 1)) } throws: {
            ($0 as? RenderFailure)?.code == "render.too-much-memory"
        }
    }

    @Test("A PNG keeps only what its pixels depend on")
    func strippedPNG() throws {
        let text = Pixels.chunk("tEXt", Array("Comment\0private".utf8))
        let profile = Array("name\0\0".utf8) + Samples.zlib([0, 0, 2, 0] + [UInt8](repeating: 7, count: 508))
        let bomb = Array("name\0\0".utf8) + Samples.zlib([0x10, 0, 0, 0] + [UInt8](repeating: 0, count: 64))
        let before =
            text + Pixels.chunk("iCCP", profile) + Pixels.chunk("eXIf", Samples.tiff(8))
            + Pixels.chunk("gAMA", [0, 0, 177, 143])
        let bytes = Samples.png(width: 30, height: 20, before: before, after: text)
        let picture = try PictureInspector().inspect(Samples.file(bytes))
        #expect(picture.facts.size == PixelSize(width: 20, height: 30))
        #expect(picture.facts.orientation == 8)
        #expect(Samples.chunks(Samples.kept(picture, of: bytes)) == ["IHDR", "iCCP", "gAMA", "IDAT", "IEND"])
        let hostile = Samples.png(width: 30, height: 20, before: Pixels.chunk("iCCP", bomb))
        #expect(
            try Samples.chunks(Samples.kept(PictureInspector().inspect(Samples.file(hostile)), of: hostile)) == [
                "IHDR", "IDAT", "IEND",
            ])
    }

    @Test("A PNG's animation, which no decoder of ours shows, is none: it stands still")
    func animatedPNG() throws {
        let bytes = Samples.png(width: 8, height: 8, before: Pixels.chunk("acTL", [0, 0, 0, 9, 0, 0, 0, 0]))
        #expect(try facts(bytes).frames == 1)
    }

    @Test("A PNG with nothing to take out goes through as the file that it is")
    func untouchedPNG() throws {
        let file = try Samples.file(Samples.png(width: 30, height: 20))
        #expect(try PictureInspector().inspect(file).keep == nil)
    }

    @Test("A WebP's canvas, alpha, frames and orientation come from its chunks")
    func webp() throws {
        let turned = try facts(Samples.webp(width: 300, height: 200, frames: 3, hasAlpha: true, orientation: 5))
        #expect(
            turned
                == PictureFacts(
                    format: .webp, size: PixelSize(width: 200, height: 300), orientation: 5, frames: 3, hasAlpha: true,
                    memory: 5 * 60_000))
        let lossless = Samples.riff(Samples.chunk("VP8L", [0x2f] + Samples.little(299 | 199 << 14 | 1 << 28, 4)))
        #expect(try facts(lossless).size == PixelSize(width: 300, height: 200))
        #expect(try facts(lossless).hasAlpha)
        let lossy = Samples.riff(
            Samples.chunk("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a] + Samples.little(300, 2) + Samples.little(200, 2)))
        #expect(try facts(lossy).size == PixelSize(width: 300, height: 200))
    }

    @Test("A GIF's frames, duration and transparency come from its blocks; a screen's size is not believed")
    func gif() throws {
        let moving = try facts(Samples.gif(width: 30, height: 20, frames: 3))
        #expect(moving.size == PixelSize(width: 30, height: 20) && moving.frames == 3)
        #expect(moving.duration == 210 && moving.hasAlpha)
        #expect(try facts(Samples.gif(width: 30, height: 20, frames: 2, delay: 0)).duration == 200)
        #expect(try facts(Samples.gif(width: 30, height: 20, frames: 1)).duration == 0)
        var screen = Samples.gif(width: 30, height: 20, frames: 1)
        screen.replaceSubrange(6..<10, with: Samples.little(640, 2) + Samples.little(480, 2))
        #expect(try facts(screen).size == PixelSize(width: 30, height: 20))
        #expect(try facts(Samples.gif(width: 3, height: 2, frames: 20_000)).frames == 1_001)
        #expect(try facts(Samples.webp(width: 8, height: 8, frames: 20_000)).frames == 20_000)
        #expect(throws: RenderFailure.self) { try facts(Samples.gif(width: 3, height: 2, frames: 0)) }
    }

    @Test("An AVIF's size is its primary picture's, as people see it; hidden ones count against the limit")
    func avif() throws {
        let turned = try facts(Samples.avif(width: 40, height: 30, turns: 1, hasAlpha: true))
        #expect(turned.size == PixelSize(width: 30, height: 40) && turned.hasAlpha && turned.orientation == 1)
        // A clean aperture is what is shown, turned with it.
        let crop = try facts(Samples.avif(width: 40, height: 30, turns: 1, aperture: (width: 21, height: 11)))
        #expect(crop.size == PixelSize(width: 11, height: 21))
        let upright = try facts(Samples.avif(width: 40, height: 30, turns: 2))
        #expect(upright.size == PixelSize(width: 40, height: 30) && !upright.hasAlpha)
        #expect(throws: RenderFailure.tooManyPixels(PixelSize(width: 17_000, height: 17_000), limit: 268_435_456)) {
            try facts(Samples.avif(width: 17_000, height: 17_000))
        }
    }

    /// Seen to fail: by HEVC's number it had no alpha, and `auto` made a JPEG on white of it.
    @Test(
        "Alpha of an AVIF or HEIC is known by each name that libheif knows",
        arguments: [
            ("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", true), ("urn:mpeg:hevc:2015:auxid:1", true),
            ("urn:mpeg:avc:2015:auxid:1", true), ("urn:mpeg:hevc:2015:auxid:2", false),
            ("urn:mpeg:hevc:2015:auxid:10", false), ("urn:com:apple:photo:2020:aux:hdrgainmap", false),
        ])
    func auxiliary(kind: String, isAlpha: Bool) throws {
        #expect(try facts(Samples.avif(width: 40, height: 30, hasAlpha: true, auxiliary: kind)).hasAlpha == isAlpha)
    }

    @Test("TIFF, JPEG XL and SVG say their size too, where they are let in")
    func others() throws {
        let inspector = PictureInspector(limits: RenderLimits(formats: Set(ImageFormat.allCases)))
        func facts(_ bytes: [UInt8]) throws -> PictureFacts { try inspector.inspect(Samples.file(bytes)).facts }
        #expect(try facts(Samples.page(width: 30, height: 20, orientation: 6)).size == PixelSize(width: 20, height: 30))
        for (text, size) in [
            ("<svg width='30' height='20.4'/>", PixelSize(width: 30, height: 20)),
            ("<svg viewBox='0 0 30 20'/>", PixelSize(width: 30, height: 20)),
            ("<svg stroke-width='9' width=\"100%\" viewBox='0,0,30,20'>", PixelSize(width: 30, height: 20)),
            ("<svg width='30px' height='20px'>", PixelSize(width: 30, height: 20)),
            ("<svg width='210mm' height='297mm'>", PixelSize(width: 794, height: 1123)),
            ("<svg width='1in' height='2.54cm'>", PixelSize(width: 96, height: 96)),
            ("<svg width='72pt' height='6pc'>", PixelSize(width: 96, height: 96)),
            ("<svg width='10em' height='1e1EX'>", PixelSize(width: 160, height: 80)),
            // Of the root's own font, which a declaration names before an attribute; of 16 pixels it was, whatever the font.
            ("<svg font-size='20' width='10em' height='10ex'>", PixelSize(width: 200, height: 100)),
            ("<svg font-size=\"150%\" width='10em' height='2EM'>", PixelSize(width: 240, height: 48)),
            ("<svg font-size='2em' width='10em' height='1in'>", PixelSize(width: 320, height: 96)),
            (
                "<svg style='fill: red; FONT-SIZE: 12pt; font-size: 30px' font-size='20' width='10em' height='1ex'>",
                PixelSize(width: 300, height: 15)
            ),
            ("<svg style='font-family: a' font-size='large' width='10em' height='9'>", PixelSize(width: 160, height: 9)),
            ("<svg width='200' viewBox='0 0 100 50'>", PixelSize(width: 200, height: 100)),
            ("<svg height='200' viewBox='0 0 100 50'>", PixelSize(width: 400, height: 200)),
            ("<svg viewBox='0\n0\n100\n50'>", PixelSize(width: 100, height: 50)),
            ("<!-- <svg width='9' height='9'> --><svg width='30' height='20'>", PixelSize(width: 30, height: 20)),
            (
                "<!DOCTYPE svg [<!ENTITY a '<svg>'>]>\n<svg width='30' height='20'>", PixelSize(width: 30, height: 20)
            ),
        ] { #expect(try facts(Array(text.utf8)).size == size, "\(text)") }
        // Seen to fail: sizes that are not drawn were damage, to be replaced at the origin.
        for text in [
            "<svg/>", "<svg width='3lh' height='4lh'/>", "<svg width='1e9' height='5'/>",
            "<svg width='.5' height='.5'/>",
            "<svg width='65536' height='9'/>",
        ] {
            #expect { try facts(Array(text.utf8)) } throws: {
                ($0 as? RenderFailure)?.code == "render.unsupported" && !"\($0)".contains("origin")
            }
        }
        // Seen to fail: it was said to have neither.
        #expect {
            try facts(Array("<svg width='3lh' height='4lh'/>".utf8))
        } throws: { "\($0)".contains("not both lengths in a known unit") }
        // 256 by 256, small: the bit for it, five bits of height, three of ratio 1:1, then nothing but defaults.
        #expect(try facts([0xff, 0x0a, 0x7f, 0x02, 0, 0]).size == PixelSize(width: 256, height: 256))
    }

    private func facts(_ bytes: [UInt8]) throws -> PictureFacts {
        try PictureInspector().inspect(Samples.file(bytes)).facts
    }
}
