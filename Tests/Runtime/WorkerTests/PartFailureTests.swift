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

@Suite("Parts of a render that fail", .timeLimit(.minutes(2)))
struct PartFailureTests {
    /// Runs one job on a renderer that makes one variant a part.
    ///
    /// - Returns: the specs of each request, the job's outcome, the stored specs, and the number of fetches.
    private func run(
        _ picture: [UInt8], as type: String, _ variants: [String],
        failing: @escaping @Sendable (VariantSpec) -> RenderFailure?
    ) async throws -> (asked: [[String]], outcome: OutcomeReport, stored: [String], fetches: Int) {
        let bench = try Bench()
        bench.origin.serve("/a", .bytes(picture, type: type))
        let log = try bench.log
        try await bench.publish([(url: bench.url("/a"), variants: variants, lane: .fast)], to: log)
        let asked = Mutex<[[String]]>([])
        try await bench.work(
            log: log,
            rendering: { pool in
                SinglePartRenderer(inner: pool, failing: failing) { specs in asked.withLock { $0.append(specs) } }
            })
        let outcome = try #require(try await bench.outcomes().first)
        let rows = try await bench.rows(of: bench.rules.source(of: bench.url("/a")).key)
        return (asked.withLock { $0 }, outcome, rows.keys.map(\.description).sorted(), bench.origin.requests(of: "/a"))
    }

    private static let photograph = Pixels.photograph(width: 90, height: 60, seed: 1).png
    private static let four = ["32x32.png", "24x24.png", "16x16.png", "8x8.png"]

    /// Seen to fail: the second plan had no orders, the renderer was asked for one part of none, and counted as crashed. Without
    /// the split, all four are one request.
    @Test("If the last part of a source is refused, the parts before it are stored, and each is rendered once")
    func last() async throws {
        let (asked, outcome, stored, fetches) = try await run(Self.photograph, as: "image/png", Self.four) { spec in
            spec.width == 8 ? .output(spec, reason: "no") : nil
        }
        #expect(asked == Self.four.map { [$0] })
        #expect(outcome.kind == .failed && outcome.failure?.code == "render.output", "\(outcome)")
        #expect(stored == Self.four.dropLast().sorted() && fetches == 1)
    }

    /// Seen to fail: each part was tried twice and refused alone.
    @Test("A still source whose first part passes its deadline twice costs no other part")
    func hanging() async throws {
        let (asked, outcome, stored, fetches) = try await run(Self.photograph, as: "image/png", Self.four) { _ in
            .deadline(milliseconds: 9)
        }
        #expect(asked.map(\.[0]) == ["32x32.png", "32x32.png"])
        #expect(outcome.kind == .failed && outcome.failure?.code == "render.deadline", "\(outcome)")
        #expect(stored.isEmpty && fetches == 1)
    }

    /// Seen to fail: the fourth part was tried twice, too.
    @Test("The second part of a source that passes its deadline fails the rest, and rendered variants are stored")
    func second() async throws {
        let (asked, outcome, stored, fetches) = try await run(Self.photograph, as: "image/png", Self.four) { spec in
            spec.width < 32 ? .deadline(milliseconds: 9) : nil
        }
        #expect(asked.map(\.[0]) == ["32x32.png", "24x24.png", "24x24.png", "16x16.png", "16x16.png"])
        #expect(outcome.variants.map { $0.failure?.code } == [nil] + Array(repeating: "render.deadline", count: 3))
        #expect(stored == ["32x32.png"] && fetches == 1)
    }

    /// Seen to fail: nothing was stored.
    @Test(
        "The still of an animation is stored if the moving variant fails for good, and the source is fetched once",
        arguments: [
            .malformed(.gif, reason: "no"), .truncated(.gif, reason: "no"), .unsupportedFeature(.gif, reason: "no"),
            .aborted(.gif), .outOfMemory(nil, reason: "no"),
        ] as [RenderFailure])
    func moving(failure: RenderFailure) async throws {
        let gif = MovingDeadlineTests.source()
        let (asked, outcome, stored, fetches) = try await run(gif, as: "image/gif", ["1x1.webp", "1x1.png"]) { spec in
            spec.isAnimated ? failure : nil
        }
        #expect(asked == [["1x1.png"], ["1x1-q80.webp"]])
        #expect(outcome.kind == .failed && outcome.failure?.code == failure.code, "\(outcome)")
        #expect(stored == ["1x1.png"] && fetches == 1)
    }

    /// Seen to fail: nothing was stored.
    @Test("The still of a GIF whose second frame is damaged is stored, and the source is fetched once")
    func damagedFrame() async throws {
        let gif = MovingDeadlineTests.source(isDamaged: true)
        let (_, outcome, stored, fetches) = try await run(gif, as: "image/gif", ["1x1.webp", "1x1.png"]) { _ in nil }
        #expect(outcome.kind == .failed && outcome.failure?.code == "render.malformed", "\(outcome)")
        #expect(stored == ["1x1.png"] && fetches == 1)
    }

    /// By reading, the old code fails: the second job fetched the source again.
    @Test(
        "A second job gets its still from the store, and the refused moving variant is not tried again",
        arguments: [0, 1 << 20])
    func secondJob(originalsLimit: Int) async throws {
        let bench = try Bench()
        bench.origin.serve("/a", .bytes(MovingDeadlineTests.source(isDamaged: true), type: "image/gif"))
        let log = try bench.log
        let job = (url: bench.url("/a"), variants: ["1x1.webp", "1x1.png"], lane: Lane.fast)
        try await bench.publish([job], to: log)
        try await bench.work(
            { ($0.originalsLimit, $0.untilIdle) = (originalsLimit, false) }, log: log,
            watching: { worker in
                do {
                    try await eventually { await worker.counters.jobs == 1 }
                    try await bench.publish([job], to: log)
                    try await eventually { await worker.counters.jobs == 2 }
                } catch { Issue.record(error) }
                await worker.drain()
            })
        let kinds = try await bench.outcomes().map { $0.variants.map(\.kind) }
        #expect(kinds == [[.failed, .stored], [.failed, .unchanged]], "\(kinds)")
        #expect(bench.origin.requests(of: "/a") == 1)
    }

    /// What a failure refuses of two orders, of which the first is the failed part.
    enum Refused { case none, part, all, named }

    private static let deadline = RenderFailure.deadline(milliseconds: 9)
    private static let damage = RenderFailure.malformed(.gif, reason: "no")

    @Test(
        "A failed part refuses its own orders, the rest, or nothing",
        arguments: [
            (deadline, "8x8.webp", frames: 1, hasMade: false, isSecond: false, Refused.none),
            (deadline, "8x8.webp", frames: 1, hasMade: true, isSecond: false, .part),
            (deadline, "8x8.webp", frames: 2, hasMade: false, isSecond: false, .part),
            (deadline, "8x8-still.webp", frames: 2, hasMade: false, isSecond: false, .none),
            (deadline, "8x8.webp", frames: 2, hasMade: true, isSecond: true, .all),
            (deadline, "8x8.webp", frames: 2, hasMade: false, isSecond: true, .none),
            (damage, "8x8.webp", frames: 2, hasMade: true, isSecond: false, .part),
            (damage, "8x8.webp", frames: 2, hasMade: true, isSecond: true, .part),
            (damage, "8x8.webp", frames: 2, hasMade: false, isSecond: false, .none),
            (damage, "8x8.webp", frames: 1, hasMade: true, isSecond: false, .none),
            (.aborted(.gif), "8x8.webp", frames: 2, hasMade: true, isSecond: false, .part),
            (.outOfMemory(nil, reason: "no"), "8x8.webp", frames: 2, hasMade: true, isSecond: false, .part),
            (.crashed(reason: "no"), "8x8.webp", frames: 2, hasMade: true, isSecond: false, .part),
            (.crashed(reason: "no"), "8x8.webp", frames: 2, hasMade: false, isSecond: false, .none),
            (.unavailable(reason: "no"), "8x8.webp", frames: 2, hasMade: true, isSecond: false, .none),
            (.output(spec("4x4.png"), reason: "no"), "8x8.webp", frames: 1, hasMade: false, isSecond: false, .named),
            (
                .outOfMemory(spec("4x4.png"), reason: "no"), "8x8.webp", frames: 1, hasMade: false, isSecond: true,
                .named
            ),
        ])
    func rule(
        failure: RenderFailure, part: String, frames: Int, hasMade: Bool, isSecond: Bool, refused: Refused
    ) {
        let orders = [part, "4x4.png"].map { text in
            let placement = spec(text).placement(of: PixelSize(width: 90, height: 90))
            return RenderOrder(spec: spec(text), output: placement.output, crop: placement.region)
        }
        let specs = failure.refused(
            [orders[0]], of: orders, frames: frames, hasMade: hasMade, isSecond: isSecond)
        switch refused {
        case .none: #expect(specs == nil)
        case .part: #expect(specs == [spec(part)])
        case .all: #expect(specs == orders.map(\.spec))
        case .named: #expect(specs == [spec("4x4.png")])
        }
        // A part with no others leaves nothing to store.
        if !hasMade, refused == .part {
            #expect(
                failure.refused([orders[0]], of: [orders[0]], frames: frames, hasMade: false, isSecond: false) == nil)
        }
    }

    @Test("No orders have no parts, of stills and of animations", arguments: [1, 2])
    func none(frames: Int) { #expect(RenderPart.all(of: [], frames: frames).isEmpty) }
}

/// A part for each variant, as the pool makes of large images; some of them fail.
private struct SinglePartRenderer: Renderer {
    let inner: any Renderer
    let failing: @Sendable (VariantSpec) -> RenderFailure?
    let note: @Sendable ([String]) -> Void

    func inspect(_ file: OpenFile) async throws(RenderFailure) -> Picture { try await inner.inspect(file) }

    func parts(of orders: [RenderOrder], from picture: Picture, isReuse: Bool) -> [[RenderOrder]] {
        RenderPart.all(of: orders, frames: picture.facts.frames).flatMap { part in
            part.count > 1 ? part.map { [$0] } : [part]
        }
    }

    func render(
        _ picture: Picture, _ orders: [RenderOrder], isReuse: Bool, origin: String?
    ) async throws(RenderFailure) -> [RenderedVariant] {
        note(orders.map(\.spec.description))
        if let failure = orders.lazy.compactMap({ failing($0.spec) }).first { throw failure }
        return try await inner.render(picture, orders, isReuse: isReuse, origin: origin)
    }
}
