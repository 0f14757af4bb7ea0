import Failures
internal import Foundation
internal import Images
internal import Ports
internal import Posix
internal import RendererPool
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

/// Small files that are large or slow to decode; what they cost libvips unprotected is in the comments.
@Suite("Pictures: bombs are refused or defused, and cost little", .timeLimit(.minutes(2)))
struct BombTests {
    @Test("Eighteen text chunks that inflate to 50 MB each are not looked into (27 s)")
    func text() async throws {
        let bomb = Pixels.chunk("zTXt", Array("Comment\0\0".utf8) + Sources.zeros(50_000_000))
        let png = Sources.blackPNG(width: 8, height: 8, chunks: [[UInt8]](repeating: bomb, count: 18))
        try await expectQuick(png, PixelSize(width: 8, height: 8))
    }

    @Test("A profile that inflates to 50 MB is dropped")
    func profile() async throws {
        let bomb = Pixels.chunk("iCCP", Array("profile\0\0".utf8) + Sources.zeros(50_331_644, after: [3, 0, 0, 0]))
        try await expectQuick(Sources.blackPNG(width: 8, height: 8, chunks: [bomb]), PixelSize(width: 8, height: 8))
    }

    @Test(
        "What is over the pixel limit by its header never reaches a child",
        arguments: [
            Sources.blackPNG(width: 8, height: 8).replacing(16..<24, with: [0, 0, 0x4e, 0x20, 0, 0, 0x4e, 0x20]),
            Sources.blackPNG(width: 8, height: 8).replacing(16..<24, with: [0, 0, 0x40, 0, 0, 0, 0x40, 1]),
        ] as [[UInt8]])
    func pixels(bytes: [UInt8]) async throws {
        await #expect { try await Workshop.pool.inspect(try Workshop.file(bytes)) } throws: {
            ($0 as? RenderFailure)?.code == "render.too-many-pixels"
        }
    }

    /// On two cores 1.5 s of processor time and 330 MiB without alpha, 2.7 s and 430 MiB with it: weighing colours by
    /// alpha costs as much as decoding the seven passes.
    @Test(
        "An interlaced picture just inside the pixel limit is rendered, within the child's limits", arguments: [3, 4])
    func interlaced(channels: Int) async throws {
        var configuration = Workshop.configuration(count: 1)
        configuration.deadline = 20_000
        let pool = RendererPool(configuration)
        let file = try Workshop.file(
            Sources.blackPNG(width: 7_000, height: 7_000, channels: channels, isInterlaced: true))
        let variants = try await Workshop.render(file, in: pool) {
            [Workshop.order(70, 70, .webp, of: $0.size), Workshop.order(60, 60, .jpeg, of: $0.size)]
        }
        #expect(variants.count == 2)
        #expect(pool.losses == 0)
        #expect(pool.peakMemoryBytes < 600 << 20)
        await pool.stop()
    }

    /// Seen to fail: libvips put more than 100 MB of pixels in a temporary file, and opening that ends a renderer.
    @Test("More than 100 MB of a WebP's pixels, still and moving, are rendered in memory", arguments: [false, true])
    func largeWebP(isMoving: Bool) async throws {
        let pool = RendererPool(Workshop.configuration(count: 1))
        var bytes = Sources.flatWebP(PixelSize(width: 2_000, height: 2_000), frames: 9)
        if !isMoving {
            let black = try Workshop.file(Sources.blackPNG(width: 5_300, height: 5_300))
            bytes = try await Workshop.make("full-q10.webp", of: black, in: pool).content.bytes()
        }
        let made = try await Workshop.make("70x70.webp", of: try Workshop.file(bytes), in: pool)
        #expect(made.size == PixelSize(width: 70, height: 70) && pool.losses == 0)
        await pool.stop()
    }

    @Test("An interlaced picture over the memory limit is refused by its header, with what to do")
    func tooLargeInterlaced() async throws {
        let png = Sources.blackPNG(width: 10_000, height: 10_000, depth: 16, channels: 4, isInterlaced: true)
        let failure = await #expect(throws: RenderFailure.self) {
            try await Workshop.pool.inspect(try Workshop.file(png))
        }
        #expect(failure == .tooMuchMemory(.png, bytes: 800_000_000 + 10_000 * 6_144, memory: 1 << 30))
        #expect(
            failure?.description
                == "The source is a png that needs 822MiB to be decoded, and one source may need 448MiB while render.memory is 1GiB. Raise render.memory to 1772MiB, or publish the image without interlacing, or smaller."
        )
    }

    @Test("What needs more heap than a child may have ends as a failure of its own, not of the pool")
    func heap() async throws {
        var configuration = Workshop.configuration(count: 1)
        configuration.dataBytes = 160 << 20
        let pool = RendererPool(configuration)
        let large = try Workshop.file(
            Sources.blackPNG(width: 7_000, height: 7_000, depth: 8, channels: 4, isInterlaced: true))
        await #expect(throws: RenderFailure.self) {
            try await Workshop.render(large, in: pool) { [Workshop.order(70, 70, .webp, of: $0.size)] }
        }
        let small = try Workshop.file(Pixels.map(width: 60, height: 40).png)
        #expect(try await Workshop.render(small, in: pool) { [Workshop.order(30, 20, .webp, of: $0.size)] }.count == 1)
        await pool.stop()
    }

    /// Rendered, in a fraction of the CPU time that it would cost.
    private func expectQuick(_ bytes: [UInt8], _ size: PixelSize) async throws {
        var configuration = Workshop.configuration(count: 1)
        configuration.isolation = .none
        let pool = RendererPool(configuration)
        try await pool.ready()
        let before = try #require(pool.processes.first?.cpuTime)
        let variants = try await Workshop.render(try Workshop.file(bytes), in: pool) {
            [Workshop.order(size.width, size.height, .png, of: $0.size)]
        }
        #expect(variants[0].size == size)
        #expect(try #require(pool.processes.first?.cpuTime) - before < .milliseconds(100))
        await pool.stop()
    }
}

extension [UInt8] {
    fileprivate func replacing(_ range: Range<Int>, with bytes: [UInt8]) -> [UInt8] {
        var copy = self
        copy.replaceSubrange(range, with: bytes)
        return copy
    }
}
