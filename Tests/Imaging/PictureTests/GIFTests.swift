import Failures
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RenderKit
internal import RenderProtocol
internal import RendererPool
internal import TestPixels
internal import Testing
internal import VariantSpec

@Suite("Pictures: GIF, whose frames leave the canvas bare", .timeLimit(.minutes(2)))
struct GIFTests {
    private static func frames(_ disposal: UInt8, colour: @escaping (Int) -> UInt8 = { _ in 1 }) -> [Sources.GIFFrame] {
        [
            Sources.GIFFrame(x: 0, y: 0, width: 64, height: 48, disposal: disposal, colour: colour),
            Sources.GIFFrame(x: 10, y: 10, width: 20, height: 20, disposal: 2) { _ in 3 },
            Sources.GIFFrame(x: 40, y: 20, width: 20, height: 20, disposal: 1) { _ in 2 },
        ]
    }

    /// Seen to fail: without a transparent colour a cleared frame left the background's colour, or black. Chromium shows the
    /// canvas.
    @Test(
        "A frame that clears the canvas leaves it transparent", arguments: [2, 3] as [UInt8], [3, 8])
    func cleared(disposal: UInt8, bits: Int) async throws {
        // All colours but three.
        let source = Sources.gif(
            width: 64, height: 48, frames: Self.frames(disposal) { bits == 8 ? UInt8($0 * 7 % 253) : 1 }, bits: bits)
        for ending in ["gif", "webp"] {
            let made = try await Workshop.make("full-q90.\(ending)", of: try Workshop.file(source))
            #expect(made.hasAlpha && made.rendition.frames == 3, "\(ending)")
            let bytes = try made.content.bytes()
            #expect(!bytes.indices.contains { bytes[$0...].starts(with: Sources.background) }, "\(ending)")
        }
        let still = try await Workshop.make("full.png", of: try Workshop.file(source))
        #expect(!still.hasAlpha)
    }

    @Test("A frame that the next one covers leaves nothing bare")
    func covered() async throws {
        var frames = Self.frames(2).map { frame in
            var frame = frame
            (frame.x, frame.y, frame.width, frame.height) = (0, 0, 64, 48)
            return frame
        }
        let source = try Workshop.file(Sources.gif(width: 64, height: 48, frames: frames))
        #expect(try await !Workshop.pool.inspect(source).facts.hasAlpha)
        frames[1].width = 63
        let bare = try Workshop.file(Sources.gif(width: 64, height: 48, frames: frames))
        #expect(try await Workshop.pool.inspect(bare).facts.hasAlpha)
    }

    @Test("The transparent colour of a cleared frame is one that none of its pixels has", arguments: [0, 90, 255, 256])
    func unused(spared: Int) throws {
        var state: UInt64 = 9
        let pixels = (0..<64 * 48).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let colour = UInt8(truncatingIfNeeded: state >> 40)
            return Int(colour) == spared ? 7 : colour
        }
        #expect(Set(pixels).count == (spared == 256 ? 256 : 255))
        let source = Sources.gif(width: 64, height: 48, frames: Self.frames(2) { pixels[$0] }, bits: 8)
        let changed = try #require(
            source.withUnsafeBytes { GIFContainer.bareShown($0, addsFrame: true, isMoving: true) })
        let control = 13 + 3 * 256
        let isFound = spared < 256
        #expect(changed[control + 3] == (isFound ? 9 : 8) && changed[control + 6] == (isFound ? UInt8(spared) : 0))
        #expect(source.withUnsafeBytes { GIFContainer.bareShown($0, addsFrame: false, isMoving: false) } == nil)
    }
}
