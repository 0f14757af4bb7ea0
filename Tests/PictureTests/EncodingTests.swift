internal import Foundation
internal import ImageModel
internal import Ports
internal import Posix
internal import RendererPool
internal import TestPixels
internal import TestSupport
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
        #expect(await Workshop.pool.isOpaque(inspected.0, lane: .fast, origin: nil))
        #expect(await !Workshop.pool.isOpaque(inspected.1, lane: .fast, origin: nil))
    }

    @Test("Chroma is whole from quality 90 in JPEG and AVIF, and of half the resolution below", arguments: sources)
    func chroma(source: ImageFormat) async throws {
        let file = try await Self.source(source)
        for (quality, sampling, subsampled) in [(89, UInt8(0x22), UInt8(0x0c)), (90, 0x11, 0)] {
            let jpeg = try await Workshop.make("80x80-q\(quality).jpg", of: file).content.bytes()
            #expect(try Self.frame(of: jpeg).sampling == sampling, "\(quality)")
            let avif = try await Workshop.make("80x80-q\(quality).avif", of: file).content.bytes()
            let box = try #require(avif.indices.first { avif[$0...].starts(with: Array("av1C".utf8)) })
            // chroma_subsampling_x and _y of AV1's configuration.
            #expect(avif[box + 6] & 0x0c == subsampled, "\(quality)")
        }
    }

    @Test(
        "The slow lane spends what its effort says, the fast lane what its own does", arguments: sources,
        [ImageFormat.webp, .avif])
    func lanes(source: ImageFormat, format: ImageFormat) async throws {
        let file = try await Self.source(source, width: 320, height: 240)
        func make(_ lane: Lane, _ pool: RendererPool) async throws -> [UInt8] {
            let made = try await Workshop.render(file, lane: lane, in: pool) {
                [Workshop.order(300, 225, format, of: $0.size)]
            }
            return try made[0].content.bytes()
        }
        let (fast, slow) = (try await make(.fast, Self.unlike), try await make(.slow, Self.unlike))
        #expect(fast != slow)
        #expect(try await make(.fast, Self.likeSlow) == slow)
        #expect(try await make(.slow, Self.likeFast) == fast)
    }

    /// Pools of three efforts: the lanes differ, the fast one is like that slow one, and the other way round.
    private static let unlike = pool(RenderEffort(webpFast: 0, webpSlow: 4, avifFast: 0, avifSlow: 3))
    private static let likeSlow = pool(RenderEffort(webpFast: 4, avifFast: 3))
    private static let likeFast = pool(RenderEffort(webpSlow: 0, avifSlow: 0))

    private static func pool(_ effort: RenderEffort) -> RendererPool {
        var configuration = Workshop.configuration(count: 1)
        configuration.effort = effort
        return RendererPool(configuration)
    }

    @Test("Nothing is spent on the fast lane beyond WebP's method 2 and AVIF's effort 1; the slow lane spends more")
    func efforts() {
        let effort = RenderEffort()
        #expect(effort.effort(for: .webp, on: .fast) == 2 && effort.effort(for: .avif, on: .fast) == 1)
        #expect(effort.effort(for: .webp, on: .slow) > 2 && effort.effort(for: .avif, on: .slow) > 1)
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
