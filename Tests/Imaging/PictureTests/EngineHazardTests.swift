import Failures
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RendererPool
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@Suite("Pictures: what libvips does with memory and time unless one prevents it", .timeLimit(.minutes(3)))
struct EngineHazardTests {
    /// libvips's own cancel comes late or never (libvips#3333), and kills a process by itself in a GIF (libvips#2708).
    @Test(
        "An encoder that nothing can stop is ended with its process, and the next picture is rendered",
        arguments: [ImageFormat.webp, .avif, .gif])
    func encoder(format: ImageFormat) async throws {
        var configuration = Workshop.configuration(count: 1)
        configuration.deadline = 1_000
        let pool = RendererPool(configuration)
        try await pool.ready()
        let large = try Workshop.file(Pixels.photograph(width: 1_500, height: 1_000, seed: 9).png)
        let clock = ContinuousClock()
        let start = clock.now
        await #expect {
            try await Workshop.render(large, in: pool) { facts in
                (0..<40).map { Workshop.order(1_490 - $0, 990, format, of: facts.size) }
            }
        } throws: { ($0 as? RenderFailure)?.code == "render.deadline" }
        #expect(clock.now - start < .seconds(4))
        let small = try Workshop.file(Pixels.map(width: 60, height: 40).png)
        #expect(try await Workshop.make("30x30.png", of: small, in: pool).size == PixelSize(width: 30, height: 20))
        await pool.stop()
    }

    /// Seen to fail where `Raster` kept its reference. libvips's cache of operations, which is off, would cost 10 MB.
    @Test("A child's memory does not grow with the pictures that it has rendered")
    func growth() async throws {
        var configuration = Workshop.configuration(count: 1)
        (configuration.recycleBytes, configuration.isolation) = (1 << 40, .none)
        let pool = RendererPool(configuration)
        var memory: [Int] = []
        for number in 0..<24 {
            let level = UInt8(number)
            let file = try Workshop.file(Sources.flat([level, 9, 9], width: 1_000, height: 800).png)
            for spec in ["900x900.jpg", "200y200-smart.webp"] { _ = try await Workshop.make(spec, of: file, in: pool) }
            memory.append(try #require(pool.processes.first?.memory?.now))
        }
        #expect(pool.losses == 0)
        #expect(try #require(memory.last) - memory[0] < 6 << 20, "\(memory.map { $0 >> 20 })")
        await pool.stop()
    }

    /// Seen to fail without `trimHeap`: 145 MB stayed, in small pieces.
    @Test("What a large picture took is given back when it is done")
    func givenBack() async throws {
        var configuration = Workshop.configuration(count: 1)
        configuration.isolation = .none
        let pool = RendererPool(configuration)
        // Of 16 bits and interlaced, it is held whole: 230 MB.
        let large = try Workshop.file(
            Sources.blackPNG(width: 6_200, height: 6_200, depth: 16, channels: 3, isInterlaced: true))
        _ = try await Workshop.make("2000x2000.avif", of: large, in: pool)
        let memory = try #require(pool.processes.first?.memory)
        #expect(memory.peak > 200 << 20 && memory.now < 96 << 20, "\(memory.now >> 20) of \(memory.peak >> 20)")
        await pool.stop()
    }

    /// A decoder gives its rows once: without `keepsDecoded` a second output finds none, and no renderer gets warm.
    ///
    /// Black at q95 takes 197 kB, since each of its blocks has two bits: 150 are had by a search alone, which needs it held.
    @Test(
        "A picture too large to be held comes out upright, once for each output, within its bytes", arguments: [1, 6])
    func streamed(orientation: Int) async throws {
        let exif = Pixels.chunk("eXIf", Sources.tiff(orientation: orientation))
        // Its top row is grey: 140, and as much as the pixel before.
        let top = [1, 140, 140, 140] + [UInt8](repeating: 0, count: 4_199 * 3)
        let file = try Workshop.file(Sources.blackPNG(width: 4_200, height: 4_000, chunks: [exif], first: top))
        let facts = try await Workshop.pool.inspect(file).facts
        #expect(facts.size.width == (orientation == 1 ? 4_200 : 4_000))
        for specs in [["full.jpg"], ["full.jpg", "full.png", "full-q95-upto150000.jpg", "30x30.webp"]] {
            let orders = try specs.map { try Workshop.order($0, of: facts.size) }
            let made = try await Workshop.render(file) { _ in orders }
            for (variant, order) in zip(made, orders) {
                let bytes = try variant.content.bytes()
                let read = try Workshop.file(bytes)
                #expect(try await Workshop.pool.inspect(read).facts.size == order.output)
                if let budget = order.spec.extras.byteBudget {
                    #expect(bytes.count <= budget && (1..<95).contains(variant.rendition.quality))
                }
                if order.spec.isFullSize { try await expectTop(in: read, of: facts.size, orientation: orientation) }
            }
        }
    }

    /// In the upper right corner, which it reaches either way: the row above, or a quarter turn on at the right.
    private func expectTop(in file: OpenFile, of size: PixelSize, orientation: Int) async throws {
        let corner = Region(x: Double(size.width - 16), y: 0, width: 16, height: 16)
        let pixels = try await Workshop.pixels(file, 16, 16, crop: corner)
        let (above, right) = (pixels[4, 0, 0], pixels[15, 12, 0])
        #expect((above > 60) == (orientation == 1) && (right > 60) == (orientation == 6), "\(above), \(right)")
        #expect(pixels[4, 12, 0] < 20)
    }
}
