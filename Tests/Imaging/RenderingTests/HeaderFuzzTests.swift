import Failures
internal import Foundation
internal import Images
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@testable internal import ImageHeaders
@testable internal import RenderProtocol

@Suite("Headers: no input may trap", .timeLimit(.minutes(30)))
struct HeaderFuzzTests {
    /// A trap would end the whole test run, so that reaching the end is the proof; that both outcomes come shows that
    /// the mutations reach deep enough.
    /// 50,000 in each part, or as many as MEZZOTINT_MUTATIONS says.
    @Test("200,000 seeded mutations of every format's header", arguments: 0..<4)
    func mutations(part: Int) throws {
        let profile = Array("name\0\0".utf8) + Samples.zlib([0, 0, 2, 0] + [UInt8](repeating: 7, count: 60))
        let seeds = [
            Samples.jpeg(width: 640, height: 480, coding: 0xc2, scans: 3, segments: [Samples.exif(6)]),
            Samples.jpeg(width: 640, height: 480, segments: [Samples.exif(3, isBigEndian: false)]),
            Samples.png(
                width: 30, height: 20, before: Pixels.chunk("iCCP", profile) + Pixels.chunk("eXIf", Samples.tiff(8))),
            Samples.webp(width: 30, height: 20, frames: 2, hasAlpha: true, orientation: 5),
            Samples.riff(Samples.chunk("VP8L", [0x2f, 1, 2, 3, 4])),
            [0, 0, 0, 24] + Array("ftypmif1".utf8) + [0, 0, 0, 0] + Array("mif1avif".utf8),
            Samples.gif(width: 30, height: 20, frames: 3),
            Samples.avif(width: 40, height: 30, turns: 1, hasAlpha: true),
            Samples.page(width: 30, height: 20, orientation: 6),
            [0xff, 0x0a, 0x7f, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66], RightsTests.packedJXL,
            Array("<?xml version='1.0'?><svg viewBox='0 0 30 20' width='30px'/>".utf8),
            Array("<!-- a --><svg width='30mm' height=\"20\"/>".utf8),
            Samples.png(
                width: 30, height: 20,
                before: Pixels.chunk("cICP", [9, 16, 0, 1]) + Pixels.chunk("gAMA", [0, 0, 0x80, 0])),
        ]
        var random = SeededRandom(seed: UInt64(part))
        let inspectors = [
            PictureInspector(), PictureInspector(limits: RenderLimits(formats: Set(ImageFormat.allCases))),
        ]
        var accepted = 0
        var refused: Set<String> = []
        let count = Effort.count("MEZZOTINT_MUTATIONS", landing: 50_000, all: 50_000)
        for round in 0..<count {
            var bytes = seeds[Int(random.next() % UInt64(seeds.count))]
            for _ in 0..<1 + random.next() % 6 {
                let place = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 4 {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes[place] = [0, 1, 0x7f, 0x80, 0xff][Int(random.next() % 5)]
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int(random.next() % 5)))
                default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 9)], at: place)
                }
                if bytes.isEmpty { bytes = [0xff] }
            }
            do {
                _ = try inspectors[round % 2].inspect(Samples.file(bytes))
                accepted += 1
            } catch let failure as RenderFailure { refused.insert(failure.code) }
        }
        #expect(accepted > 1_000)
        #expect(
            refused.isSuperset(of: [
                "render.malformed", "render.unrecognised", "render.too-many-pixels", "render.unsupported",
            ]))
    }

    @Test("Damaged zlib streams end, within the limit")
    func inflate() {
        // By zlib, with the fixed code and with a dynamic one.
        let fixed: [UInt8] = [
            0x78, 0xda, 0xf3, 0x4d, 0xad, 0xaa, 0xca, 0x2f, 0xc9, 0xcc, 0x2b, 0x51, 0xf0, 0xc5, 0x64, 0x01, 0x00, 0xae,
            0x74,
            0x0b, 0xbd,
        ]
        let dynamic = bytes(
            "78da3d8f8111043108026b15e8bf8677f1f2991b730101f5281e4d66461a79cc5fbfb1a977344e3e4a1fb0cd69abf4c04525e1784672"
                + "1f3e47e128187484fe6320005327b7414f55d307c0e9f21119972d40592179b971b72dea6cb717b254d7ca3aebcc9da941d7623e"
                + "e2729a2ec778fe01668f72b2")
        let text =
            "cabdcabadaaabbabcacaaabaabaaaccbaaaaaaaaabacddaaabaabbaaaabaccacdbaababbabbaaaabbacbbbcabaacaaabbcbcabacb"
        #expect(Inflate.prefix(105, ofZlib: dynamic[...]) == Array(text.utf8))
        #expect(Inflate.prefix(100, ofZlib: fixed[...]) == Array("Mezzotint Mezzotint Mezzotint".utf8))
        #expect(Inflate.prefix(4, ofZlib: fixed[...]) == Array("Mezz".utf8))
        var random = SeededRandom(seed: 3)
        for _ in 0..<50_000 {
            let noise = [0x78, 0x9c] + (0..<random.next() % 60).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if let bytes = Inflate.prefix(300, ofZlib: noise[...]) { #expect(bytes.count <= 300) }
        }
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.map { $0 < 58 ? $0 - 48 : $0 - 87 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
