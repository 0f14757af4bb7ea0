import Failures
internal import ImageHeaders
internal import Images
internal import Posix
internal import RenderProtocol
internal import TestPixels
internal import Testing
internal import VariantSpec

/// The bombs that a header gives away: each costs the worker a look, and a child nothing.
@Suite("Pictures: bombs are refused by their header in under 50 ms", .timeLimit(.minutes(2)))
struct BombRefusalTests {
    @Test(
        "Refused with the limit that it is over",
        arguments: [
            ("a grey JPEG of 49 Mpx with 694 legal scans", "render.too-many-scans", scans(694)),
            ("a PNG of 20,000 × 20,000, interlaced", "render.too-many-pixels", png(20_000, 20_000, 8, 2, true)),
            ("a PNG of 64 Mpx, 16 bits, alpha, interlaced", "render.too-much-memory", png(8_000, 8_000, 16, 6, true)),
            ("a PNG of 8 × 8 whose data inflate to 1.2 MB", "render.unsupported", png(8, 8, 8, 2, false)),
            ("a WebP of 16,383 × 16,383 without loss", "render.too-much-memory", webp),
            ("an AVIF of 15,872 × 15,872 in 2 kB", "render.too-much-memory", avif),
            ("a JPEG XL of 16,000 × 16,000 in 12 bytes", "render.too-much-memory", jxl),
            ("a progressive JPEG of 60,000 × 60,000", "render.too-many-pixels", jpeg(60_000, 60_000)),
        ])
    func refused(name: String, code: String, bytes: [UInt8]) throws {
        let file = try Workshop.file(bytes)
        let before = ProcessMemory.ownCPUTime
        #expect(Self.code(of: file) == code, "\(name)")
        // What the test's own threads use beside it is in this, too.
        #expect(ProcessMemory.ownCPUTime - before < .milliseconds(50), "\(name)")
    }

    /// A still needs the first alone.
    @Test("Frames are counted to the limit and no further")
    func frames() throws {
        let file = try Workshop.file(Self.gif)
        let before = ProcessMemory.ownCPUTime
        #expect(try PictureInspector(limits: Self.limits).inspect(file).facts.frames == Self.limits.frames + 1)
        #expect(ProcessMemory.ownCPUTime - before < .milliseconds(50))
    }

    private static let limits = RenderLimits(formats: Set(ImageFormat.allCases))

    private static func code(of file: OpenFile) -> String? {
        do throws(RenderFailure) { _ = try PictureInspector(limits: limits).inspect(file) } catch { return error.code }
        return nil
    }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    private static func jpeg(_ width: Int, _ height: Int) -> [UInt8] {
        [0xff, 0xd8, 0xff, 0xc2, 0, 11, 8] + big(height, 2) + big(width, 2) + [1, 1, 0x11, 0]
            + [0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0, 0x55, 0xff, 0xd9]
    }

    private static func scans(_ count: Int) -> [UInt8] {
        let whole = jpeg(7_000, 7_000)
        let scan: [UInt8] = [0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0] + [UInt8](repeating: 0x55, count: 200)
        return whole.dropLast(2) + (0..<count).flatMap { _ in scan } + whole.suffix(2)
    }

    private static func png(_ width: Int, _ height: Int, _ depth: UInt8, _ kind: UInt8, _ isInterlaced: Bool) -> [UInt8]
    {
        let head = big(width, 4) + big(height, 4) + [depth, kind, 0, 0, isInterlaced ? 1 : 0]
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + Pixels.chunk("IHDR", head)
            + Pixels.chunk("IDAT", Sources.zeros(1_200_000)) + Pixels.chunk("IEND", [])
    }

    /// One tile, 31 times 31; what it is does not matter, since nobody decodes it.
    private static let avif =
        Sources.grid(
            tile: [0, 0, 0, 12] + Array("av1C".utf8) + [0x81, 0, 0x0c, 0] + [0, 0, 0, 12] + Array("mdat".utf8) + [
                1, 2, 3, 4,
            ],
            side: 512, count: 31, shown: 15_872) ?? []

    /// 30 bits of height, and as wide as high.
    private static let jxl: [UInt8] =
        [0xff, 0x0a] + (0..<10).map { UInt8(truncatingIfNeeded: (3 << 1 | 15_999 << 3 | 1 << 33) >> (8 * $0)) }

    private static let gif: [UInt8] = {
        let one = Sources.flatGIF(side: 1, frames: [(1, 1)])
        // Past the screen and its two colours, and before the trailer.
        return one.prefix(19) + [[UInt8]](repeating: Array(one[19..<one.count - 1]), count: 100_000).flatMap { $0 } + [
            0x3b
        ]
    }()

    private static let webp =
        Array("RIFF".utf8) + [26, 0, 0, 0] + Array("WEBPVP8L".utf8) + [14, 0, 0, 0, 0x2f, 0xfe, 0xbf, 0xff, 0x0f]
        + [UInt8](repeating: 0, count: 9)
}
