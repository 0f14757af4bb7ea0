internal import Images
internal import TestPixels
internal import Testing
internal import VariantSpec

@testable internal import ImageHeaders
@testable internal import RenderProtocol

@Suite("What decoding needs: by a picture's header, before its pixels come", .timeLimit(.minutes(1)))
struct DecodeMemoryTests {
    /// MiB that libvips, with the decoder below it, was measured to take beyond a started process, of a picture decoded row by
    /// row and made smaller.
    @Test(
        "The estimate is over what was measured, and not by half",
        arguments: [
            (ImageFormat.jpeg, PictureCoding.rows, 10_000, 1, 36), (.png, .rows, 10_000, 1, 50),
            (.jpeg, .coefficients(samples: 6, pixels: 4), 8_192, 1, 223),
            (.jpeg, .coefficients(samples: 3, pixels: 1), 8_192, 1, 415),
            (.png, .interlaced(bytesPerPixel: 3), 7_000, 1, 155), (.webp, .lossyWebP(hasAlpha: false), 8_192, 1, 516),
            (.webp, .lossyWebP(hasAlpha: false), 8_192, 2, 132), (.webp, .losslessWebP, 4_096, 4, 78),
            (.webp, .losslessWebP, 4_096, 8, 75), (.gif, .gif(canvases: 1), 8_192, 1, 284),
            // Of one frame. Seen to fail: what was measured before was of tiles.
            (.avif, .planes(isSubsampled: true, isDeep: false, hasAlpha: false), 7_000, 1, 377),
            (.avif, .planes(isSubsampled: false, isDeep: false, hasAlpha: false), 5_000, 1, 353),
            (.avif, .planes(isSubsampled: true, isDeep: false, hasAlpha: true), 6_700, 1, 361),
            (.avif, .planes(isSubsampled: false, isDeep: false, hasAlpha: false), 3_500, 1, 162),
            (.avif, .planes(isSubsampled: true, isDeep: false, hasAlpha: true), 3_500, 1, 116),
            (.heic, .planes(isSubsampled: true, isDeep: false, hasAlpha: false), 3_500, 1, 93),
            (.heic, .planes(isSubsampled: true, isDeep: true, hasAlpha: false), 3_500, 1, 181),
            (.heic, .planes(isSubsampled: true, isDeep: false, hasAlpha: false), 7_000, 1, 327),
            (.heic, .planes(isSubsampled: true, isDeep: false, hasAlpha: true), 7_000, 1, 422),
            (.heic, .planes(isSubsampled: true, isDeep: true, hasAlpha: true), 5_000, 1, 431),
            (.avif, .planes(isSubsampled: false, isDeep: false, hasAlpha: false), 7_000, 1, 616),
            // By VmData, which is what the limit counts.
            (.avif, .planes(isSubsampled: true, isDeep: false, hasAlpha: false, isOneFrame: true), 7_000, 1, 435),
            (.avif, .planes(isSubsampled: true, isDeep: false, hasAlpha: true, isOneFrame: true), 7_000, 1, 538),
            (.avif, .planes(isSubsampled: true, isDeep: true, hasAlpha: false, isOneFrame: true), 7_000, 1, 717),
            (.avif, .planes(isSubsampled: false, isDeep: false, hasAlpha: false, isOneFrame: true), 7_000, 1, 717),
            (.avif, .planes(isSubsampled: true, isDeep: true, hasAlpha: true, isOneFrame: true), 7_000, 1, 853),
        ])
    func measured(format: ImageFormat, coding: PictureCoding, side: Int, shrink: Int, mebibytes: Int) {
        let size = PixelSize(width: side, height: side)
        let facts = PictureFacts(
            format: format, size: size, orientation: 1, frames: 1, hasAlpha: false, memory: coding.bytes(of: size))
        let estimate = facts.decodeBytes(shrink: shrink) >> 20
        #expect(estimate >= mebibytes && estimate < mebibytes * 3 / 2 + 30, "\(estimate) MiB")
    }

    /// As ARCHITECTURE and `render.memory` say them. Seen to fail: 7,000 with alpha was taken, and ended without memory.
    @Test(
        "With the default memory a picture may have so many pixels, if it is a square",
        arguments: [
            (ImageFormat.avif, PictureCoding.planes(isSubsampled: true, isDeep: false, hasAlpha: false), 7_600),
            (.avif, .planes(isSubsampled: true, isDeep: false, hasAlpha: true), 6_700),
            (.avif, .planes(isSubsampled: false, isDeep: false, hasAlpha: false), 5_600),
            (.heic, .planes(isSubsampled: true, isDeep: true, hasAlpha: false), 5_400),
            (.avif, .planes(isSubsampled: true, isDeep: true, hasAlpha: true), 4_800),
            (.avif, .planes(isSubsampled: false, isDeep: true, hasAlpha: false), 4_000),
            (.avif, .planes(isSubsampled: true, isDeep: false, hasAlpha: false, isOneFrame: true), 7_000),
            (.avif, .planes(isSubsampled: true, isDeep: false, hasAlpha: true, isOneFrame: true), 6_300),
            (.avif, .planes(isSubsampled: true, isDeep: true, hasAlpha: false, isOneFrame: true), 5_300),
            (.avif, .planes(isSubsampled: false, isDeep: false, hasAlpha: false, isOneFrame: true), 5_400),
            (.gif, .gif(canvases: 1), 10_000), (.gif, .gif(canvases: 2), 7_200), (.gif, .gif(canvases: 3), 6_000),
        ])
    func bounds(format: ImageFormat, coding: PictureCoding, side: Int) {
        func needed(_ side: Int) -> Int {
            let size = PixelSize(width: side, height: side)
            let facts = PictureFacts(
                format: format, size: size, orientation: 1, frames: 1, hasAlpha: false, memory: coding.bytes(of: size))
            return facts.leastDecodeBytes
        }
        let most = RenderMemory.decoding(1 << 30)
        #expect(needed(side) <= most && needed(side + 100) > most, "\(needed(side) >> 20) MiB")
    }

    /// Seen to fail: height counted as width does, and the tall ones were refused as too large for `render.memory`.
    @Test(
        "Rows on their way cost by the width that is stored, however high the picture is",
        arguments: [
            (Samples.png(width: 1_000, height: 100_000), 6, true),
            (Samples.jpeg(width: 1_600, height: 40_000, coding: 0xc2), 375, true),
            (Samples.jpeg(width: 1_600, height: 40_000, coding: 0xc2, segments: [Samples.exif(6)]), 375, true),
            (Samples.png(width: 70_000, height: 1_000), 411, true),
            (Samples.png(width: 100_000, height: 1_000), 586, false),
            // No more than all of its pixels.
            (Samples.png(width: 100_000, height: 100), 76, true),
        ])
    func rows(bytes: [UInt8], mebibytes: Int, isTaken: Bool) throws {
        let facts = try PictureInspector(limits: RenderLimits(memory: 4 << 30)).inspect(Samples.file(bytes)).facts
        #expect(abs(facts.decodeBytes(shrink: 1) >> 20 - mebibytes) <= 1, "\(facts.decodeBytes(shrink: 1) >> 20) MiB")
        if isTaken {
            _ = try PictureInspector().inspect(Samples.file(bytes))
        } else {
            #expect(throws: RenderFailure.self) { try PictureInspector().inspect(Samples.file(bytes)) }
        }
    }

    @Test(
        "A header says how its picture is coded",
        arguments: [
            (Samples.jpeg(width: 40, height: 20), PictureCoding.rows),
            (Samples.jpeg(width: 40, height: 20, coding: 0xc2), .coefficients(samples: 3, pixels: 1)),
            (Samples.jpeg(width: 40, height: 20, coding: 0xc2, components: 1), .coefficients(samples: 1, pixels: 1)),
            (Samples.jpeg(width: 40, height: 20, scans: 1, scanComponents: 1), .coefficients(samples: 3, pixels: 1)),
            (halved, .coefficients(samples: 6, pixels: 4)), (Samples.png(width: 40, height: 20), .rows),
            (Samples.png(width: 40, height: 20, depth: 16, interlace: 1), .interlaced(bytesPerPixel: 8)),
            (webp([("VP8 ", 10)]), .lossyWebP(hasAlpha: false)),
            (webp([("ALPH", 3), ("VP8 ", 10)]), .lossyWebP(hasAlpha: true)), (webp([("VP8L", 9)]), .losslessWebP),
            (Sources.gif(), .gif(canvases: 1)), (Sources.gif(disposal: 3), .gif(canvases: 2)),
            (Sources.gif(covered: 30), .gif(canvases: 3)),
            // Without its end: what follows may be transparent.
            (Array(Sources.gif(covered: 30).dropLast()), .gif(canvases: 1)),
            (Sources.gif(covered: 30, isTransparent: true), .gif(canvases: 1)),
            (avif([]), .planes(isSubsampled: true, isDeep: false, hasAlpha: false)),
            (avif(Bombs.box("av1C", [0x81, 0, 0x0c, 0])), .planes(isSubsampled: true, isDeep: false, hasAlpha: false)),
            (avif(Bombs.box("av1C", [0x81, 0, 0, 0])), .planes(isSubsampled: false, isDeep: false, hasAlpha: false)),
            (avif(Bombs.box("av1C", [0x81, 0, 0x10, 0])), .planes(isSubsampled: true, isDeep: false, hasAlpha: false)),
            (avif(Bombs.box("av1C", [0x81, 0, 0x4c, 0])), .planes(isSubsampled: true, isDeep: true, hasAlpha: false)),
            (avif(hevc(chroma: 3, depth: 8)), .planes(isSubsampled: true, isDeep: false, hasAlpha: false)),
            (avif(hevc(chroma: 1, depth: 10)), .planes(isSubsampled: true, isDeep: true, hasAlpha: false)),
        ])
    func header(bytes: [UInt8], coding: PictureCoding) throws {
        let facts = try PictureInspector().inspect(Samples.file(bytes)).facts
        #expect(facts.memory == coding.bytes(of: PixelSize(width: 40, height: 20)))
    }

    @Test(
        "render.memory says how much one renderer and its decoder may have, and which value lets one have more",
        arguments: [(64, 512, 64), (448, 512, 448), (1_024, 512, 448), (4_096, 2_048, 1_984)])
    func setting(memory: Int, heap: Int, decoding: Int) {
        #expect(RenderMemory.heap(memory << 20) == heap << 20)
        #expect(RenderMemory.decoding(memory << 20) == decoding << 20)
        let needed = RenderMemory.setting(for: decoding << 20)
        #expect(needed <= max(memory, 1_024) << 20 && RenderMemory.decoding(needed) >= decoding << 20)
        #expect(RenderMemory.decoding(RenderMemory.setting(for: decoding << 20 + 1)) > decoding << 20)
    }

    @Test(
        "A refusal names the setting, its value, what is needed, and what to do",
        arguments: [
            (
                Samples.jpeg(width: 12_000, height: 9_000, coding: 0xc2), 1 << 30,
                "The source is a jpeg that needs 689MiB to be decoded, and one source may need 448MiB while render.memory is 1GiB. Raise render.memory to 1505MiB, or publish the image as a baseline JPEG, which has one scan, or smaller."
            ),
            (
                Samples.avif(width: 4_000, height: 3_000), 64 << 20,
                "The source is an avif that needs 107MiB to be decoded, and one source may need 64MiB while render.memory is 64MiB. Raise render.memory to 107MiB, or publish the image smaller."
            ),
        ])
    func refusal(bytes: [UInt8], memory: Int, text: String) throws {
        #expect {
            try PictureInspector(limits: RenderLimits(memory: memory)).inspect(Samples.file(bytes))
        } throws: { "\($0)" == text }
    }

    @Test(
        "A WebP is decoded smaller where it is large, stands still, and twice its outputs is left",
        arguments: [
            (8_000, 8_000, 1, 1_000, 4), (8_000, 8_000, 1, 500, 8), (8_000, 8_000, 1, 2_001, 1),
            (8_000, 8_000, 2, 500, 1),
            (4_000, 4_000, 1, 100, 1), (4_001, 4_000, 1, 100, 8),
        ])
    func scale(width: Int, height: Int, frames: Int, side: Int, shrink: Int) {
        let size = PixelSize(width: width, height: height)
        let facts = PictureFacts(format: .webp, size: size, orientation: 6, frames: frames, hasAlpha: false)
        let output = RenderOutput(
            format: .jpeg, quality: 80, effort: 0, size: PixelSize(width: side, height: side), crop: Region(whole: size)
        )
        func request(_ isReuse: Bool) -> RenderRequest {
            RenderRequest(facts: facts, isReuse: isReuse, deadlineMilliseconds: 0, outputs: [output])
        }
        #expect(request(false).shrink == shrink && request(true).shrink == 1)
    }

    /// A progressive JPEG whose chroma is halved across and down.
    private static var halved: [UInt8] {
        var bytes = Samples.jpeg(width: 40, height: 20, coding: 0xc2)
        // Behind its marker, length, depth, sides and count: the first component's factors.
        bytes[13] = 0x22
        return bytes
    }

    private static func webp(_ chunks: [(name: String, length: Int)]) -> [UInt8] {
        let canvas = Samples.chunk("VP8X", [0, 0, 0, 0] + Samples.little(39, 3) + Samples.little(19, 3))
        return Samples.riff(
            canvas + chunks.flatMap { Samples.chunk($0.name, [UInt8](repeating: 0, count: $0.length)) })
    }

    private static func avif(_ property: [UInt8]) -> [UInt8] {
        var bytes = Samples.avif(width: 40, height: 20)
        guard let size = bytes.firstRange(of: Array("ispe".utf8)) else { return [] }
        // In front of all others it would have the number of the size: links are by place.
        bytes.insert(contentsOf: property, at: size.upperBound + 12 + 9)
        for name in ["meta", "iprp", "ipco"] {
            guard let place = bytes.firstRange(of: Array(name.utf8))?.lowerBound else { return [] }
            let length = bytes[place - 4..<place].reduce(0) { $0 << 8 | Int($1) } + property.count
            bytes.replaceSubrange(place - 4..<place, with: Samples.big(length, 4))
        }
        return bytes
    }

    private static func hevc(chroma: UInt8, depth: UInt8) -> [UInt8] {
        Bombs.box("hvcC", [UInt8](repeating: 1, count: 16) + [0xfc | chroma, 0xf8 | (depth - 8)] + [0, 0, 0x0f, 0, 0])
    }

    private enum Sources {
        /// One frame of a canvas of 40 by 20.
        static func gif(disposal: UInt8 = 0, covered: Int = 40, isTransparent: Bool = false) -> [UInt8] {
            Array("GIF89a".utf8) + [
                40, 0, 20, 0, 0, 0, 0, 0x21, 0xf9, 4, disposal << 2 | (isTransparent ? 1 : 0), 1, 0, 0, 0,
            ]
                + [0x2c, 0, 0, 0, 0, UInt8(covered), 0, 20, 0, 0, 2, 1, 0, 0, 0x3b]
        }
    }
}
