internal import Failures
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RenderProtocol
internal import RendererPool
internal import TestPixels
internal import Testing
internal import VariantSpec

@Suite("Large pictures are shrunk, not refused", .timeLimit(.minutes(2)))
struct LargeTests {
    /// A picture, and the most MiB that its renderer may have had beside the file, which is mapped.
    struct Large: Sendable, CustomTestStringConvertible {
        let name: String
        let mebibytes: Int
        let bytes: @Sendable () async throws -> [UInt8]
        var testDescription: String { name }
    }

    private static func square(_ side: Int) -> PixelSize { PixelSize(width: side, height: side) }

    private static func reference(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: ColourTests.references.appending(path: name)))
    }

    private static func heic(_ tile: String) throws -> [UInt8] {
        Sources.grid(tile: try reference(tile), side: 1_000, count: 7, shown: 7_000) ?? []
    }

    /// With the defaults a worker has. Before, all but the last were over the limit of 50 million pixels.
    @Test(
        "Within a renderer's 512 MiB, and what was estimated of them",
        arguments: [
            Large(name: "JPEG, 10,000 × 10,000", mebibytes: 40) { Sources.flatJPEG(square(10_000)) },
            Large(name: "JPEG, 12,000 × 9,000", mebibytes: 40) {
                Sources.flatJPEG(PixelSize(width: 12_000, height: 9_000))
            },
            Large(name: "PNG, 10,000 × 10,000", mebibytes: 110) { Sources.blackPNG(width: 10_000, height: 10_000) },
            // Both were refused, as if each row of a high picture were as wide as it is high.
            Large(name: "PNG, 1,000 × 100,000", mebibytes: 60) { Sources.blackPNG(width: 1_000, height: 100_000) },
            Large(name: "progressive JPEG, 1,600 × 60,000", mebibytes: 340) {
                Sources.flatJPEG(PixelSize(width: 1_600, height: 60_000), isProgressive: true)
            },
            Large(name: "progressive JPEG, 8,192 × 8,192", mebibytes: 512) {
                Sources.flatJPEG(square(8_192), isProgressive: true, isHalved: false)
            },
            Large(name: "progressive JPEG with halved chroma, 12,000 × 9,000", mebibytes: 512) {
                Sources.flatJPEG(PixelSize(width: 12_000, height: 9_000), isProgressive: true)
            },
            Large(name: "WebP with loss, 8,192 × 8,192", mebibytes: 120) { Sources.lossyWebP(square(8_192)) },
            Large(name: "WebP without loss, 8,192 × 8,192", mebibytes: 512) { Sources.stillWebP(square(8_192)) },
            Large(name: "GIF, 8,192 × 8,192", mebibytes: 512) {
                Sources.flatGIF(side: 8_192, frames: [(8_192, 8_192)])
            },
            Large(name: "AVIF, 7,000 × 7,000", mebibytes: 512) {
                let tile = try await Workshop.make(
                    "full-q30.avif", of: try Workshop.file(Sources.flat([9, 90, 200], width: 500, height: 500).png))
                return Sources.grid(tile: try tile.content.bytes(), side: 500, count: 14, shown: 7_000) ?? []
            },
            // libaom holds several frames of their size, which tiles do not have.
            Large(name: "AVIF in one frame, 7,000 × 7,000", mebibytes: 450) { try reference("frame-7000.avif") },
            Large(name: "AVIF in one frame of 4:4:4, 5,000 × 5,000", mebibytes: 430) {
                try reference("frame-444-5000.avif")
            },
            Large(name: "AVIF with alpha, 6,700 × 6,700", mebibytes: 512) {
                let tile = try await Workshop.make(
                    "full-q30.avif", of: try Workshop.file(Sources.flat([9, 90, 200], width: 670, height: 670).png))
                return Sources.grid(
                    tile: try tile.content.bytes(), side: 670, count: 10, shown: 6_700, hasAlpha: true) ?? []
            },
            Large(name: "HEIC, 7,000 × 7,000", mebibytes: 512) { try heic("tile.heic") },
            // It was refused, as if libde265 took as much of it as libaom.
            Large(name: "HEIC in 4:4:4, 7,000 × 7,000", mebibytes: 512) { try heic("tile-444.heic") },
        ])
    func large(_ large: Large) async throws {
        let pool = RendererPool(Workshop.configuration(count: 1))
        let file = try Workshop.file(try await large.bytes())
        let facts = try await pool.inspect(file).facts
        let order = try Workshop.order("1000x1000.jpg", of: facts.size)
        let made = try await Workshop.render(file, in: pool) { _ in [order] }
        let request = RenderRequest(
            facts: facts, isReuse: false, deadlineMilliseconds: 0,
            outputs: [RenderOutput(format: .jpeg, quality: 80, effort: 0, size: order.output, crop: order.crop)])
        #expect(made[0].size == order.output && pool.losses == 0)
        // The file itself is mapped, and counts as resident.
        let own = pool.peakMemoryBytes - file.length
        #expect(own < large.mebibytes << 20, "\(own >> 20) MiB beside \(file.length >> 20) of the file")
        // Beyond the 50 MiB of a process.
        #expect(
            own - (50 << 20) < request.memoryEstimate,
            "\(pool.peakMemoryBytes >> 20) MiB, \(request.memoryEstimate >> 20) estimated")
        await pool.stop()
    }

    /// Seen to fail: the defaults took the first, which ended without memory. So did the others with the memory named.
    @Test(
        "The memory that a refusal names is enough",
        arguments: ["frame-7500.avif", "frame-10-7000.avif", "frame-444-7000.avif"])
    func named(name: String) async throws {
        let file = try Workshop.file(try Self.reference(name))
        let failure = await #expect(throws: RenderFailure.self) { _ = try await Workshop.pool.inspect(file) }
        guard case .tooMuchMemory(_, let bytes, _) = failure else { return }
        var configuration = Workshop.configuration(count: 1)
        configuration.memoryBytes = RenderMemory.setting(for: bytes)
        configuration.limits.memory = configuration.memoryBytes
        configuration.dataBytes = RenderMemory.heap(configuration.memoryBytes)
        let pool = RendererPool(configuration)
        let made = try await Workshop.make("1000x1000.jpg", of: file, in: pool)
        #expect(made.size == Self.square(1_000) && pool.losses == 0)
        await pool.stop()
    }

    /// Of 47.6 million pixels. Seen to fail: the decoded pixels were held for both, and the renderer ended without memory.
    @Test("Several variants of an AVIF that just fits are rendered, each from a decode of its own")
    func severalOfFrame() async throws {
        let pool = RendererPool(Workshop.configuration(count: 1))
        let file = try Workshop.file(try Self.reference("frame-6900.avif"))
        let made = try await Workshop.render(file, in: pool) { facts in
            ["1000x1000.jpg", "160y160.webp"].compactMap { try? Workshop.order($0, of: facts.size) }
        }
        #expect(made.count == 2 && pool.losses == 0)
        await pool.stop()
    }

    /// Held for both, they would take 381 MiB.
    @Test("Of a large picture the decoder's pixels are held for no second variant")
    func several() async throws {
        let pool = RendererPool(Workshop.configuration(count: 1))
        let file = try Workshop.file(Sources.blackPNG(width: 10_000, height: 10_000, channels: 4))
        let made = try await Workshop.render(file, in: pool) { facts in
            [(1_000, 1_000), (900, 900), (100, 100)].map { Workshop.order($0, $1, .jpeg, of: facts.size) }
        }
        #expect(made.map(\.size.width) == [1_000, 900, 100] && pool.losses == 0)
        #expect(pool.peakMemoryBytes < 200 << 20, "\(pool.peakMemoryBytes >> 20) MiB")
        await pool.stop()
    }

    /// Rows for a reduction to a 625th took 161 MiB more.
    @Test("The smallest variant of a large picture takes no more than others")
    func smallest() async throws {
        let pool = RendererPool(Workshop.configuration(count: 1))
        let file = try Workshop.file(Sources.blackPNG(width: 10_000, height: 10_000))
        let made = try await Workshop.render(file, in: pool) { [Workshop.order(16, 16, .png, of: $0.size)] }
        #expect(made[0].size.width == 16 && pool.losses == 0)
        #expect(pool.peakMemoryBytes < 160 << 20, "\(pool.peakMemoryBytes >> 20) MiB")
        await pool.stop()
    }

    /// All shared one deadline.
    @Test(
        "Variants that a large picture is decoded again for are asked one by one",
        arguments: [
            (ImageFormat.png, 10_000, "900x900.jpg", 3), (.png, 6_000, "900x900.jpg", 1),
            (.jpeg, 10_000, "900x900.jpg", 1), (.jpeg, 10_000, "900x900-grey.jpg", 3),
        ])
    func parts(format: ImageFormat, side: Int, spec: String, count: Int) throws {
        let facts = PictureFacts(format: format, size: Self.square(side), orientation: 1, frames: 1, hasAlpha: false)
        let picture = Picture(facts: facts, file: try Workshop.file(Array("a".utf8)))
        let spec = try VariantSpec(spec)
        let orders = [0.0, 2_000, 4_000].map { place in
            RenderOrder(
                spec: spec, output: Self.square(900), crop: Region(x: place, y: 0, width: 1_000, height: 1_000))
        }
        let parts = Workshop.pool.parts(of: orders, from: picture, isReuse: false)
        #expect(parts.count == count && Set(parts.flatMap { $0 }) == Set(orders))
    }

    /// All shared one deadline, as if the direct path decoded them once.
    @Test(
        "So are those of a JPEG that libvips renders: by its setting, or since they are too large together",
        arguments: [
            (EngineChoice.direct, 900, 1), (.portable, 900, 1), (.libvips, 900, 3), (.direct, 2_900, 3),
            (.direct, 2_800, 1),
        ])
    func parts(engine: EngineChoice, side: Int, count: Int) throws {
        let facts = PictureFacts(format: .jpeg, size: Self.square(10_000), orientation: 1, frames: 1, hasAlpha: false)
        let picture = Picture(facts: facts, file: try Workshop.file(Array("a".utf8)))
        let orders = [0.0, 2_000, 4_000].map { place in
            RenderOrder(
                spec: VariantSpec(width: side, height: side, quality: 80, format: .jpeg), output: Self.square(side),
                crop: Region(x: place, y: 0, width: 1.1 * Double(side), height: 1.1 * Double(side)))
        }
        var configuration = Workshop.configuration(count: 1)
        configuration.engine = engine
        #expect(RendererPool(configuration).parts(of: orders, from: picture, isReuse: false).count == count)
    }

    @Test("What a WebP shows is the same, decoded smaller or in full, whole, cut and turned", arguments: [1, 6])
    func scaledWebP(orientation: Int) async throws {
        let photograph = Pixels.photograph(width: 600, height: 571, seed: 4)
        let source = try await Workshop.make(
            "4202x3999-enlarge-q90.webp", of: try Workshop.file(photograph.png), in: Workshop.everything)
        var bytes = try source.content.bytes()
        if orientation > 1 { bytes = Sources.turnedWebP(bytes, source.size, orientation: orientation) }
        let file = try Workshop.file(bytes)
        let picture = try await Workshop.pool.inspect(file)
        #expect(picture.facts.size.pixels > 16_000_000 && picture.facts.orientation == orientation)
        for spec in ["300x300.png", "210y300.png", "150z90.png"] {
            let order = try Workshop.order(spec, of: picture.facts.size)
            var shown: [Pixels] = []
            for isReuse in [false, true] {
                let made = try await Workshop.pool.render(picture, [order], isReuse: isReuse)
                shown.append(try #require(Pixels(png: try made[0].content.bytes())))
            }
            let difference = try #require(shown[0].difference(from: shown[1]))
            // A shift of a tenth of a pixel would be more.
            #expect(difference < 0.6, "\(spec): \(difference)")
        }
    }

    @Test("A variant that would need its WebP in full is refused alone, with the setting that lets it pass")
    func wholeWebP() async throws {
        let file = try Workshop.file(Sources.stillWebP(Self.square(8_192)))
        let picture = try await Workshop.pool.inspect(file)
        let orders = try ["100x100.jpg", "5000x5000.jpg"].map { try Workshop.order($0, of: picture.facts.size) }
        let failure = await #expect(throws: RenderFailure.self) {
            try await Workshop.pool.render(picture, orders, isReuse: false)
        }
        guard case .output(let spec, let reason) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(spec == orders[1].spec)
        #expect(reason.contains("while render.memory is 1GiB. Raise render.memory to"))
    }

    /// They were looked for in pixels that the process had no room for, and it ended with the others.
    @Test(
        "A variant for which a large picture would be held is refused, and others are not",
        arguments: [
            (ImageFormat.png, 10_000, "100x100-trim.jpg"), (.png, 10_000, "100y100-smart.jpg"),
            (.webp, 8_192, "100x100-trim.jpg"), (.jpeg, 12_000, "100x100-trim.jpg"),
        ])
    func held(format: ImageFormat, side: Int, spec: String) throws {
        let facts = PictureFacts(format: format, size: Self.square(side), orientation: 1, frames: 1, hasAlpha: false)
        let order = try Workshop.order(spec, of: facts.size)
        let failure = Workshop.pool.refusal(of: order, from: facts)
        guard case .output(let refused, let reason) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(refused == order.spec)
        #expect(reason.contains("while render.memory is 1GiB. Raise render.memory to"))
        #expect(Workshop.pool.refusal(of: try Workshop.order("100x100.jpg", of: facts.size), from: facts) == nil)
        let small = PictureFacts(
            format: format, size: Self.square(4_000), orientation: 1, frames: 1, hasAlpha: false)
        #expect(Workshop.pool.refusal(of: try Workshop.order(spec, of: small.size), from: small) == nil)
    }

    @Test("A picture's first bytes tell what the whole would be refused for, and nothing else")
    func start() async throws {
        let large = Sources.flatJPEG(Self.square(12_000), isProgressive: true, isHalved: false)
        func finding(_ bytes: ArraySlice<UInt8>) async throws -> StartFinding {
            await Workshop.pool.finding(ofStart: try Workshop.file(Array(bytes)))
        }
        func code(_ bytes: ArraySlice<UInt8>) async throws -> String? {
            if case .useless(let failure) = try await finding(bytes) { failure.code } else { nil }
        }
        #expect(try await code(large.prefix(1_000)) == "render.too-much-memory")
        // Before its frame header, of another coding, and of no picture.
        #expect(try await finding(large.prefix(60)) == .unknown)
        #expect(try await finding(Sources.flatJPEG(Self.square(12_000)).prefix(1_000)) == .useful)
        #expect(try await code(Array("<html>".utf8)[...]) == "render.unrecognised")
        let drawing = Array("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>".utf8)
        #expect(try await code(drawing[...]) == "render.unsupported")
    }
}
