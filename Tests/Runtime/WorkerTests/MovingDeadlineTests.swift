import Canonical
import Failures
import ImageModel
import Images
import Ports
import Posix
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

@Suite("What moves and takes too long", .timeLimit(.minutes(2)))
struct MovingDeadlineTests {
    /// Two frames of one pixel, red and blue. A damaged second frame has a code that its table lacks.
    static func source(isDamaged: Bool = false) -> [UInt8] {
        let frames = [0x44, isDamaged ? 0x7c : 0x4c].flatMap { pixel -> [UInt8] in
            [0x21, 0xf9, 4, 0, 10, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, pixel, 1, 0]
        }
        return Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 200, 0, 0, 0, 0, 200] + frames + [0x3b]
    }

    /// Seen to fail: all were rendered at once and none was stored, and the source was fetched for each of three attempts. And:
    /// stills were rendered a second time.
    @Test("Stills are stored though what moves passes its deadline, and the source is fetched once")
    func stills() async throws {
        let bench = try Bench()
        bench.origin.serve("/a.gif", .bytes(Self.source(), type: "image/gif"))
        let log = try bench.log
        try await bench.publish([(url: bench.url("/a.gif"), variants: ["1x1.webp", "1x1.png"], lane: .fast)], to: log)
        let asked = Mutex<[[String]]>([])
        try await bench.work(
            log: log, rendering: { SlowMotion(inner: $0) { specs in asked.withLock { $0.append(specs) } } })
        let outcome = try #require(try await bench.outcomes().first)
        #expect(outcome.kind == .failed && outcome.failure?.code == "render.deadline", "\(outcome)")
        let source = try bench.rules.source(of: bench.url("/a.gif")).key
        #expect(try await bench.rows(of: source).keys.map(\.description) == ["1x1.png"])
        #expect(bench.origin.requests(of: "/a.gif") == 1)
        // Stills first; what moves has a second try.
        #expect(asked.withLock { $0 } == [["1x1.png"], ["1x1-q80.webp"], ["1x1-q80.webp"]])
    }
}

/// No deadline is long enough for what moves.
private struct SlowMotion: Renderer {
    let inner: any Renderer
    let note: @Sendable ([String]) -> Void

    func inspect(_ file: OpenFile) async throws(RenderFailure) -> Picture { try await inner.inspect(file) }

    func render(
        _ picture: Picture, _ orders: [RenderOrder], isReuse: Bool, origin: String?
    ) async throws(RenderFailure) -> [RenderedVariant] {
        note(orders.map(\.spec.description))
        if orders.contains(where: \.spec.isAnimated) { throw .deadline(milliseconds: 9) }
        return try await inner.render(picture, orders, isReuse: isReuse, origin: origin)
    }
}
