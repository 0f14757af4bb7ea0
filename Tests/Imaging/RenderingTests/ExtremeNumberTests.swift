internal import Images
internal import TestPixels
internal import Testing
internal import VariantSpec

@testable internal import ImageHeaders
@testable internal import RenderProtocol

@Suite("Headers: the least and the largest numbers, in every place", .timeLimit(.minutes(10)))
struct ExtremeNumberTests {
    /// 64 bits of them; a narrower field has as many as it holds.
    private static let extremes: [UInt64] = [0, 1, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 63 - 1]

    /// A header of each kind that a parser tells apart; whatever a parser reads of them is a number at some place.
    static let samples: [(name: String, bytes: [UInt8])] = [
        ("jpeg", Samples.jpeg(width: 64, height: 48, segments: [Samples.exif(6)])),
        (
            "progressive jpeg",
            Samples.jpeg(width: 64, height: 48, coding: 0xc2, scans: 2, segments: [Samples.exif(3, isBigEndian: false)])
        ),
        (
            "png",
            Samples.png(
                width: 30, height: 20, interlace: 1,
                before: Pixels.chunk("iCCP", Array("name\0\0".utf8) + Samples.zlib([0, 0, 2, 0, 7]))
                    + Pixels.chunk("eXIf", Samples.tiff(8)))
        ),
        ("webp", Samples.webp(width: 30, height: 20, frames: 2, hasAlpha: true, orientation: 5)),
        ("lossless webp", Samples.riff(Samples.chunk("VP8L", [0x2f] + Samples.little(299 | 199 << 14, 4)))),
        ("lossy webp", Samples.riff(Samples.chunk("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, 44, 1, 200, 0]))),
        ("gif", Samples.gif(width: 30, height: 20, frames: 2)),
        ("avif", Samples.avif(width: 40, height: 30, turns: 1, hasAlpha: true)),
        ("avif with an aperture", Bombs.aperture),
        ("avif of 64 bits", Self.wide(Samples.avif(width: 40, height: 30))),
        ("tiff", Samples.page(width: 30, height: 20, orientation: 6)),
        ("jxl", [0xff, 0x0a, 0x7f, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66]),
        (
            "jxl in boxes",
            Bombs.box("JXL ", [13, 10, 0x87, 10]) + Bombs.box("free", [0])
                + Bombs.box("jxlc", [0xff, 0x0a, 0x7f, 2, 0, 0])
        ),
    ]

    /// A trap would end the whole run. Every place of a sample, as a number of each width and both orders of bytes.
    @Test("One number", arguments: Self.samples.indices)
    func one(sample: Int) throws {
        let bytes = Self.samples[sample].bytes
        var inspected = 0
        for width in [1, 2, 3, 4, 8] {
            for offset in 0...max(0, bytes.count - width) {
                for number in Self.written(width) {
                    try inspect(Self.replacing(bytes, [offset], number))
                    inspected += 1
                }
            }
        }
        #expect(inspected > 100)
    }

    /// Products are of two numbers, such as width and height, which lie side by side or a fraction's length apart.
    @Test("Two numbers together", arguments: Self.samples.indices)
    func two(sample: Int) throws {
        let bytes = Self.samples[sample].bytes
        var inspected = 0
        for width in [2, 3, 4] {
            for gap in Set([width, 8, 12]) {
                for offset in 0..<max(0, bytes.count - gap - width) {
                    for number in Self.written(width) {
                        try inspect(Self.replacing(bytes, [offset, offset + gap], number))
                        inspected += 1
                    }
                }
            }
        }
        #expect(inspected > 50 || bytes.count < 20)
    }

    @Test(
        "An SVG's numbers are text",
        arguments: ["0", "1", "2147483647", "4294967296", "9223372036854775807", "1e308", "1e400", "nan", "inf", "-1"])
    func text(number: String) throws {
        for text in ["<svg width='\(number)' height='\(number)'/>", "<svg viewBox='0 0 \(number) \(number)'/>"] {
            try inspect(Array(text.utf8))
        }
    }

    @Test("An aperture of 2³² - 1 on each side, in 171 bytes, is malformed")
    func aperture() throws {
        #expect(Bombs.aperture.count == 171)
        #expect(throws: RenderFailure.malformed(.avif, reason: "its size is 4294967295×4294967295")) {
            try PictureInspector().inspect(Samples.file(Bombs.aperture))
        }
    }

    @Test("A side of no pixel, or of more than any decoder counts, is malformed in every format")
    func sides() throws {
        let (least, most) = (0, 1 << 32 - 1)
        let pictures: [([UInt8], ImageFormat, String)] = [
            (Samples.jpeg(width: least, height: 5), .jpeg, "0×5"),
            (Samples.png(width: most, height: 1), .png, "4294967295×1"),
            (Samples.png(width: 1, height: 1 << 31), .png, "1×2147483648"),
            (Samples.avif(width: 7, height: most), .avif, "7×4294967295"),
            (Samples.avif(width: least, height: most), .avif, "0×4294967295"),
            (Samples.page(width: most, height: most, orientation: 1), .tiff, "4294967295×4294967295"),
            (Samples.riff(Samples.chunk("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, 0, 0, 200, 0])), .webp, "0×200"),
            // 30 bits of height, one as many, at twice the width.
            (
                [0xff, 0x0a] + Self.bits([(0, 1), (3, 2), (1 << 30 - 1, 30), (7, 3), (1, 1), (0, 31)]), .jxl,
                "2147483648×1073741824"
            ),
        ]
        for (bytes, format, size) in pictures {
            #expect(throws: RenderFailure.malformed(format, reason: "its size is \(size)")) {
                try PictureInspector(limits: RenderLimits(formats: Set(ImageFormat.allCases))).inspect(
                    Samples.file(bytes))
            }
        }
    }

    private func inspect(_ bytes: [UInt8]) throws {
        let inspector = PictureInspector(
            limits: RenderLimits(formats: Set(ImageFormat.allCases), pixels: .max, memory: .max))
        let file = try Samples.file(bytes)
        do throws(RenderFailure) {
            let facts = try inspector.inspect(file).facts
            // What the worker does with a picture's numbers before a child has it.
            _ = facts.size.times(facts.frames)
            _ = VariantSpec(width: 16_383, height: 16_383, mode: .crop, format: .webp, enlarge: true)
                .placement(of: facts.size)
        } catch {}
    }

    private static func written(_ width: Int) -> Set<[UInt8]> {
        Set(
            extremes.flatMap { number in
                let big = (0..<width).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (width - 1 - $0))) }
                return [big, big.reversed()]
            })
    }

    private static func replacing(_ bytes: [UInt8], _ offsets: [Int], _ number: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for offset in offsets { bytes.replaceSubrange(offset..<offset + number.count, with: number) }
        return bytes
    }

    /// The second box with a length of eight bytes behind its name.
    private static func wide(_ file: [UInt8]) -> [UInt8] {
        let start = Int(file[3])
        let content = file[(start + 8)...]
        return file[..<start] + Samples.big(1, 4) + file[start + 4..<start + 8] + Samples.big(content.count + 16, 8)
            + content
    }

    /// Numbers and their widths from the least significant bit on.
    private static func bits(_ parts: [(value: Int, width: Int)]) -> [UInt8] {
        let all = parts.flatMap { part in (0..<part.width).map { UInt8(part.value >> $0 & 1) } }
        return stride(from: 0, to: all.count, by: 8).map { start in
            all[start..<min(start + 8, all.count)].reversed().reduce(0) { $0 << 1 | $1 }
        }
    }

    @Test("A format has its article in a message", arguments: ImageFormat.allCases)
    func article(format: ImageFormat) {
        let isVowel = format == .avif || format == .svg
        let text = RenderFailure.malformed(format, reason: "it is none").description
        #expect(text.hasPrefix("The source is \(isVowel ? "an" : "a") \(format) that"))
    }
}
