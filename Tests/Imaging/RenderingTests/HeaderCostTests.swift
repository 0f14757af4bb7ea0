import Failures
internal import Foundation
internal import Images
internal import Posix
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@testable internal import ImageHeaders
@testable internal import RenderProtocol

/// Counted, not timed: a step of a release build takes some nanoseconds, and so does a page that is read.
@Suite("Headers: what it may cost to read one", .timeLimit(.minutes(10)))
struct HeaderCostTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: @Sendable () -> [UInt8]
        /// nil: it is read, and refused by no limit.
        let code: String?
        /// At most; less than the limit where nothing but the limit would end it.
        let steps: Int
        let bytesRead: Int
        var testDescription: String { name }

        init(_ name: String, _ code: String?, steps: Int, read: Int, _ bytes: @escaping @Sendable () -> [UInt8]) {
            (self.name, self.code, self.steps, bytesRead, self.bytes) = (name, code, steps, read, bytes)
        }
    }

    private static let size = 8 << 20
    private static let most = 1 << 20 + size / 16 + 65_536

    static let hostile: [Case] = [
        Case(
            "JPEG: EXIF after EXIF, each with its directory far away", "render.unsupported", steps: most,
            read: size + 65_536
        ) {
            let far: [UInt8] =
                [0xff, 0xe1, 0, 16] + Array("Exif\0\0MM".utf8) + Samples.big(42, 2) + Samples.big(4 << 20, 4)
            return picture(from: repeated(far), Samples.jpeg(width: 9, height: 9))
        },
        Case("JPEG: directories of 256 entries", nil, steps: 200_000, read: size + 65_536) {
            let one = Samples.segment(0xe1, Array("Exif\0\0".utf8) + directory)
            return picture(from: repeated(one), Samples.jpeg(width: 9, height: 9))
        },
        Case("JPEG: comments of nothing", "render.unsupported", steps: most, read: size + 65_536) {
            picture(from: repeated([0xff, 0xfe, 0, 2]), Samples.jpeg(width: 9, height: 9))
        },
        Case("JPEG: stuffed bytes alone", "render.unsupported", steps: most, read: size + 65_536) {
            Samples.jpeg(width: 9, height: 9, coding: 0xc2).dropLast(3) + repeated([0xff, 0])
        },
        Case("JPEG: nothing written behind its beginning", nil, steps: 5_000, read: 2 * size) {
            Samples.jpeg(width: 9, height: 9).dropLast(3) + repeated([0xff])
        },
        Case("PNG: chunks of nothing", "render.too-many-chunks", steps: 1 << 20, read: size + 65_536) {
            Samples.png(width: 9, height: 9, before: repeated(Pixels.chunk("tEXt", [])))
        },
        Case("PNG: EXIF after EXIF", nil, steps: 50_000, read: size + 65_536) {
            return Samples.png(width: 9, height: 9, before: repeated(Pixels.chunk("eXIf", directory)))
        },
        Case("PNG: pixels in pieces", "render.unsupported", steps: 10_000, read: size + 65_536) {
            Samples.png(
                width: 900, height: 900,
                before: repeated(Pixels.chunk("gAMA", [0, 0, 1, 1]) + Pixels.chunk("tEXt", [])))
        },
        Case("GIF: blocks of a byte", "render.unsupported", steps: most, read: size + 65_536) {
            Samples.gif(width: 3, height: 2, frames: 1).dropLast(2) + repeated([1, 7])
        },
        Case("GIF: extensions of nothing", "render.unsupported", steps: most, read: size + 65_536) {
            Array("GIF89a".utf8) + [3, 0, 2, 0, 0, 0, 0] + repeated([0x21, 0xfe, 0])
        },
        Case("WebP: EXIF after EXIF", nil, steps: 50_000, read: size + 65_536) {
            let canvas = Samples.chunk("VP8X", [8, 0, 0, 0, 8, 0, 0, 8, 0, 0])
            return Samples.riff(canvas + repeated(Samples.chunk("EXIF", directory)))
        },
        Case("WebP: chunks of nothing", "render.unsupported", steps: 1 << 20, read: size + 65_536) {
            Samples.riff(Samples.chunk("VP8X", [8, 0, 0, 0, 8, 0, 0, 8, 0, 0]) + repeated(Samples.chunk("XMP ", [])))
        },
        Case("AVIF: associations without end", "render.unsupported", steps: most, read: size + 1 << 20) {
            let entry: [UInt8] = [0, 1, 255] + [UInt8](repeating: 1, count: 255)
            let table = Bombs.box(
                "ipma", Samples.big(0, 4) + Samples.big(1 << 32 - 1, 4) + (0..<4000).flatMap { _ in entry })
            return described(
                Bombs.box("ipco", Bombs.box("ispe", Samples.big(0, 4) + Samples.big(9, 4) + Samples.big(9, 4)))
                    + repeated(table))
        },
        Case(
            "AVIF: box in box in box, each of many and the next one last", "render.malformed", steps: most,
            read: size + 1 << 20 + 65_536
        ) {
            let gap = Bombs.box("free", [UInt8](repeating: 0, count: 4096))
            let gaps = (0..<500).flatMap { _ in gap }
            return described(gaps + Bombs.box("ipco", gaps), before: gaps)
        },
        Case("AVIF: boxes without end in themselves", "render.malformed", steps: 1 << 17, read: size + 65_536) {
            Bombs.box("ftyp", Array("avif".utf8) + Samples.big(0, 4)) + repeated(Samples.big(0, 4) + Array("meta".utf8))
        },
        Case("AVIF: boxes of nothing", "render.unsupported", steps: 1 << 17, read: size + 65_536) {
            Bombs.box("ftyp", Array("avif".utf8) + Samples.big(0, 4)) + repeated(Bombs.box("free", []))
        },
        Case("JPEG XL: boxes of nothing", "render.malformed", steps: 10_000, read: 1 << 20) {
            Bombs.box("JXL ", [13, 10, 0x87, 10]) + repeated(Bombs.box("free", []))
        },
        Case("TIFF: a directory of 65,535 entries", "render.malformed", steps: 20_000, read: 1 << 20) {
            Array("II".utf8) + Samples.little(42, 2) + Samples.little(8, 4) + [0xff, 0xff]
                + repeated([1, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        },
        Case("SVG: the same beginning again and again", "render.unsupported", steps: 100, read: 1 << 17) {
            Array("<svg".utf8) + repeated(Array(" width<svg".utf8))
        },
    ]

    @Test("What is made to cost much is ended, or costs little", arguments: Self.hostile)
    func bomb(_ item: Case) throws {
        var bytes = PictureBytes(try Samples.file(item.bytes()))
        var code: String?
        do throws(RenderFailure) { _ = try Self.inspector.header(of: &bytes) } catch { code = error.code }
        #expect(code == item.code)
        #expect(bytes.steps <= item.steps, "\(bytes.steps) steps, \(bytes.bytesRead) bytes read of \(bytes.length)")
        #expect(
            bytes.bytesRead <= item.bytesRead, "\(bytes.steps) steps, \(bytes.bytesRead) bytes read of \(bytes.length)")
    }

    static let honest: [Case] = [
        Case("A PNG of 30 MB in chunks of 8 KiB", nil, steps: 1 << 17, read: 30 << 20) {
            let data = Pixels.chunk("IDAT", [UInt8](repeating: 0x5a, count: 8192))
            return Samples.png(width: 4000, height: 3000, before: (0..<3700).flatMap { _ in data })
        },
        Case("A progressive JPEG of 20 MB and 64 scans", nil, steps: 1 << 20, read: 21 << 20) {
            let head = Samples.jpeg(width: 4000, height: 3000, coding: 0xc2, scans: 0).dropLast(3)
            let scan = Samples.segment(0xda, [1, 0, 0, 0, 63, 0]) + noise(320_000)
            return head + (0..<64).flatMap { _ in scan } + [0xff, 0xd9]
        },
        Case(
            "A JPEG of 20 MB without its end, with a restart after every 32 bytes", nil, steps: 3 << 20, read: 21 << 20
        ) {
            let restarts = (0..<640_000).flatMap { (number: Int) -> [UInt8] in
                [UInt8](repeating: 0x5a, count: 30) + [0xff, 0xd0 + UInt8(number % 8)]
            }
            return Samples.jpeg(width: 4000, height: 3000).dropLast(3) + restarts
        },
        Case("A GIF of 1000 frames, 25 MB", nil, steps: 1 << 20, read: 26 << 20) {
            let frame = Samples.gif(width: 500, height: 400, frames: 1)
            let block: [UInt8] = [0xff] + [UInt8](repeating: 0x5a, count: 255)
            let one: [UInt8] = frame[19...].dropLast(2) + (0..<100).flatMap { _ in block } + [0]
            return frame[..<19] + (0..<1000).flatMap { _ in one } + [0x3b]
        },
        Case("A WebP of 1000 frames", nil, steps: 1 << 18, read: 2 << 20) {
            Samples.webp(width: 30, height: 20, frames: 1000, hasAlpha: true, orientation: 5)
        },
    ]

    @Test("What is large by its nature is read", arguments: Self.honest)
    func large(_ item: Case) throws { try bomb(item) }

    @Test(
        "No real picture takes a quarter of what it may",
        .enabled(if: Shared.has("images/photos"), Comment(rawValue: Shared.absent)))
    func real() throws {
        let images = try #require(Shared.part("images"))
        let files = try #require(FileManager.default.enumerator(at: images, includingPropertiesForKeys: nil))
        var (count, dearest) = (0, (share: 0.0, name: ""))
        for case let url as URL in files where url.path.contains("/photos/") || url.path.contains("/formats/") {
            guard let data = try? Data(contentsOf: url), data.count > 1000 else { continue }
            var bytes = PictureBytes(try Samples.file(Array(data)))
            guard (try? Self.inspector.header(of: &bytes)) != nil else { continue }
            count += 1
            let share = Double(bytes.steps) / Double(bytes.stepLimit)
            if share > dearest.share { dearest = (share, url.lastPathComponent) }
            #expect(bytes.bytesRead <= bytes.length + 128 << 10, "\(url.lastPathComponent)")
        }
        #expect(count > 50 && dearest.share < 0.25, "\(dearest)")
    }

    @Test("A colour profile is inflated for its first bytes alone, and one of them")
    func profiles() throws {
        // A block of 258 codes that ends at once, then one that holds the length: a table for each.
        let empty: [UInt8] = [0, 0, 0, 0xff, 0xff]
        func stream(_ blocks: Int) -> ArraySlice<UInt8> {
            ([0x78, 0x01] + (0..<blocks).flatMap { _ in empty } + [1, 4, 0, 0xfb, 0xff, 0, 0, 2, 0])[...]
        }
        #expect(Inflate.prefix(4, ofZlib: stream(3)) == [0, 0, 2, 0])
        #expect(Inflate.prefix(4, ofZlib: stream(500)) == [])
        let profile = Pixels.chunk(
            "iCCP", Array("name\0\0".utf8) + Samples.zlib([0, 0, 2, 0] + [UInt8](repeating: 7, count: 508)))
        let bytes = Samples.png(width: 9, height: 9, before: profile + profile)
        let picture = try PictureInspector().inspect(Samples.file(bytes))
        #expect(Samples.chunks(Samples.kept(picture, of: bytes)) == ["IHDR", "iCCP", "IDAT", "IEND"])
    }

    @Test("The first EXIF block counts, within its own bytes")
    func firstExif() throws {
        func orientation(_ bytes: [UInt8]) throws -> Int {
            try Self.inspector.inspect(Samples.file(bytes)).facts.orientation
        }
        #expect(try orientation(Samples.jpeg(width: 9, height: 9, segments: [Samples.exif(6), Samples.exif(3)])) == 6)
        // XMP is in such a segment too.
        let other = Samples.segment(0xe1, Array("http://ns.adobe.com/xap/1.0/\0<x/>".utf8))
        #expect(try orientation(Samples.jpeg(width: 9, height: 9, segments: [other, Samples.exif(6)])) == 6)
        let chunks = Pixels.chunk("eXIf", Samples.tiff(8)) + Pixels.chunk("eXIf", Samples.tiff(3))
        #expect(try orientation(Samples.png(width: 9, height: 9, before: chunks)) == 8)
        let outside = Samples.segment(0xe1, Array("Exif\0\0MM".utf8) + Samples.big(42, 2) + Samples.big(26, 4))
        let entry =
            Samples.big(1, 2) + Samples.big(0x0112, 2) + Samples.big(3, 2) + Samples.big(1, 4) + Samples.big(6, 2) + [
                0, 0,
            ]
        #expect(
            try orientation(
                Samples.jpeg(width: 9, height: 9, segments: [outside, Samples.segment(0xfe, [0, 0, 0, 0] + entry)]))
                == 1)
    }

    private static let inspector = PictureInspector(limits: RenderLimits(formats: Set(ImageFormat.allCases)))

    /// 8 MiB of it, for all it is.
    private static func repeated(_ part: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + part.count)
        while bytes.count < size - part.count { bytes += part }
        return bytes
    }

    /// Segments between a JPEG's first two bytes and the rest.
    private static func picture(from segments: [UInt8], _ jpeg: [UInt8]) -> [UInt8] {
        jpeg[..<2] + segments + jpeg[2...]
    }

    /// EXIF of 256 fields, none of which is the orientation.
    private static var directory: [UInt8] {
        let field = Samples.big(0x010f, 2) + [UInt8](repeating: 0, count: 10)
        let head = Array("MM".utf8) + Samples.big(42, 2) + Samples.big(8, 4) + Samples.big(256, 2)
        return head + (0..<256).flatMap { _ in field }
    }

    /// A file whose description of properties holds these boxes.
    private static func described(_ properties: [UInt8], before: [UInt8] = []) -> [UInt8] {
        let parts = Bombs.box("pitm", Samples.big(0, 4) + Samples.big(7, 2)) + before + Bombs.box("iprp", properties)
        return Bombs.box("ftyp", Array("avif".utf8) + Samples.big(0, 4)) + Bombs.box("meta", Samples.big(0, 4) + parts)
    }

    /// Entropy-coded bytes as they fall, each 0xff stuffed.
    private static func noise(_ count: Int) -> [UInt8] {
        var random = SeededRandom(seed: 5)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + count / 100)
        while bytes.count < count {
            let word = random.next()
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                let byte = UInt8(truncatingIfNeeded: word >> shift)
                bytes.append(byte)
                if byte == 0xff { bytes.append(0) }
            }
        }
        return bytes
    }
}
