internal import Access
internal import Canonical
internal import Failures
internal import ImageModel
internal import Images
internal import Origin
internal import Ports
internal import Posix
internal import RendererPool
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@Suite(
    "A source that can't be decoded is refused by its first bytes, before the rest is fetched", .timeLimit(.minutes(1)))
struct StartRefusalTests {
    /// The beginning of a picture, and what the rest repeats.
    struct Start: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        var rest: UInt8 = 0x55
        var code = "render.too-much-memory"
    }

    private static let side = 15_872

    @Test(
        "Of 30 MB the worker takes the first few",
        arguments: [
            Start(
                testDescription: "progressive JPEG",
                bytes: Array(
                    Sources.flatJPEG(PixelSize(width: 12_000, height: 12_000), isProgressive: true, isHalved: false)
                        .prefix(1_000))),
            Start(testDescription: "progressive JPEG behind 390 kB of metadata", bytes: burdened),
            Start(
                testDescription: "SVG, which the settings do not name",
                bytes: Array("<svg xmlns='http://www.w3.org/2000/svg' width='60' height='40'><!--".utf8),
                code: "render.unsupported"),
            Start(testDescription: "AVIF", bytes: heif("avif")), Start(testDescription: "HEIC", bytes: heif("heic")),
            Start(testDescription: "WebP", bytes: webp), Start(testDescription: "interlaced PNG", bytes: png),
            // Each length in the data is followed by as many bytes.
            Start(
                testDescription: "GIF", bytes: Array(Sources.flatGIF(side: side, frames: [(side, side)]).prefix(42)),
                rest: 0xff),
        ])
    func refused(start: Start) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 30000000\r\n\r\n"
        let origin = try BrokenOrigin(
            .flood(Array(head.utf8) + start.bytes, [UInt8](repeating: start.rest, count: 1_000)))
        var configuration = OriginConfiguration()
        configuration.settings.access.addresses.allow = [AddressRange("127.0.0.1/32")].compactMap { $0 }
        let fetcher = GuardedFetcher(configuration) { await Workshop.pool.finding(ofStart: $0) }
        let answer = try await fetcher.fetch(FetchRequest(url: .init(origin.url()), lane: .fast))
        guard case .refused(let failure, _) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(failure.code == start.code)
        // What both sockets hold beside it.
        #expect(origin.bytesFlooded < 12 << 20, "\(origin.bytesFlooded)")
    }

    /// A grid of tiles in 4:2:0, whose data come last.
    private static func heif(_ brand: String) -> [UInt8] {
        let codec: [UInt8] =
            brand == "avif"
            ? [0x81, 0, 0x0c, 0]
            : [1, 3, 0x70, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 90, 0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0x0f, 0]
        let tile = Bombs.box("av1C", codec) + Bombs.box("mdat", [1, 2, 3, 4])
        let file = Sources.grid(tile: tile, side: 512, count: 31, shown: side) ?? []
        guard brand == "heic" else { return file }
        return [("avif", "heic"), ("av01", "hvc1"), ("av1C", "hvcC")].reduce(file) { file, names in
            var file = file
            while let place = file.firstRange(of: Array(names.0.utf8)) {
                file.replaceSubrange(place, with: Array(names.1.utf8))
            }
            return file
        }
    }

    private static let burdened: [UInt8] = {
        let jpeg = Sources.flatJPEG(PixelSize(width: 12_000, height: 12_000), isProgressive: true, isHalved: false)
        let segment = [0xff, 0xe9, 0xfd, 0xe8] + [UInt8](repeating: 0x3c, count: 64_998)
        return Array(jpeg[..<2]) + (0..<6).flatMap { _ in segment } + Array(jpeg[2..<1_000])
    }()

    private static let webp: [UInt8] =
        Array("RIFF".utf8) + [0x78, 0xc3, 0xc9, 1] + Array("WEBPVP8L".utf8) + [0x60, 0xc3, 0xc9, 1]
        + [0x2f, 0xfe, 0xbf, 0xff, 0x0f]

    private static let png: [UInt8] = {
        let head: [UInt8] = [0, 0, 0x1f, 0x40, 0, 0, 0x1f, 0x40, 16, 6, 0, 0, 1]
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + Pixels.chunk("IHDR", head)
            + [1, 0xc0, 0, 0] + Array("IDAT".utf8)
    }()
}
