import Digest
import EmbeddedLog
import Foundation
import ImageModel
import Images
import Partition
import Ports
import Posix
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

/// A fetcher whose thread hangs: it neither answers nor hears that it should stop, until it is let go.
private struct StuckFetcher: Fetcher {
    let inner: any Fetcher
    let gate: Gate

    func fetch(
        _ request: FetchRequest, nearlyDone: @escaping @Sendable () -> Void
    ) async throws(FetchFailure) -> FetchResponse {
        await gate.wait()
        return try await inner.fetch(request, nearlyDone: nearlyDone)
    }
}

/// One of its slots takes a picture, the largest, and never gives it back.
private struct StuckRenderer: Renderer {
    let inner: any Renderer
    let gate: Gate

    func inspect(_ file: OpenFile) async throws(RenderFailure) -> Picture { try await inner.inspect(file) }

    func render(
        _ picture: Picture, _ orders: [RenderOrder], isReuse: Bool, origin: String?
    ) async throws(RenderFailure) -> [RenderedVariant] {
        if picture.facts.size.width == 40 { await gate.wait() }
        return try await inner.render(picture, orders, isReuse: isReuse, origin: origin)
    }
}

/// Gives back each part once its gate is open.
private final class GatedRenderer: Renderer {
    private let inner: any Renderer
    private let gates: [Gate]
    private let parts = Atomic(0)

    init(inner: any Renderer, gates: [Gate]) { (self.inner, self.gates) = (inner, gates) }

    func inspect(_ file: OpenFile) async throws(RenderFailure) -> Picture { try await inner.inspect(file) }

    func render(
        _ picture: Picture, _ orders: [RenderOrder], isReuse: Bool, origin: String?
    ) async throws(RenderFailure) -> [RenderedVariant] {
        await gates[parts.add(1, ordering: .relaxed).oldValue].wait()
        return try await inner.render(picture, orders, isReuse: isReuse, origin: origin)
    }
}

/// A store whose file system does not say whether files are there.
private struct StuckStore: BlobStore {
    let inner: any BlobStore
    let gate: Gate

    var absence: StoreFailure? { inner.absence }
    func sight() async throws(StoreFailure) -> StoreSight { try await inner.sight() }
    func adopt() async throws(StoreFailure) -> StoreIdentity { try await inner.adopt() }
    func put(_ blobs: [NewBlob]) async throws(StoreFailure) -> [StoredBlob] { try await inner.put(blobs) }
    func open(_ location: String) async throws(StoreFailure) -> OpenFile? { try await inner.open(location) }
    func open(
        _ location: String, if isExpected: @escaping @Sendable (SHA256Digest) -> Bool
    ) async throws(StoreFailure) -> OpenFile? { try await inner.open(location, if: isExpected) }
    func isGone(_ location: String, bytes: Int) -> Bool? { inner.isGone(location, bytes: bytes) }
    func remove(_ location: String) async throws(StoreFailure) { try await inner.remove(location) }

    func gone(among blobs: [(location: String, bytes: Int)]) async -> [Int] {
        await gate.wait()
        return await inner.gone(among: blobs)
    }
}

@Suite("Whether a worker lives", .timeLimit(.minutes(1)))
struct LivenessTests {
    private let bench: Bench
    private let gate = Gate()

    init() throws {
        bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 40, height: 30, seed: 1).png, type: "image/png"))
    }

    private func publish() async throws -> EmbeddedLog {
        let log = try bench.log
        try await bench.publish([(bench.url("/a.png"), ["16x16.png"], .fast)], to: log)
        return log
    }

    @Test("One whose fetches hang says so, and lives again when they end")
    func fetches() async throws {
        try await bench.work(
            { $0.standstill = .seconds(1) }, log: publish(), fetcher: { StuckFetcher(inner: $0, gate: gate) },
            watching: { worker in
                while worker.standstill == nil { await Task.yield() }
                #expect(worker.standstill?.step == .fetch && worker.standstill?.count == 1)
                gate.open()
                while worker.standstill != nil { await Task.yield() }
            })
        #expect(try await bench.outcomes().map(\.kind) == [.stored])
    }

    @Test("One whose looks at stored files hang says so, and lives again when they end")
    func looks() async throws {
        let jobs = (0..<40).map { _ in (bench.url("/a.png"), ["16x16.png"], Lane.fast) }
        try await bench.work(log: publish())
        let log = try bench.log
        try await bench.publish(jobs, to: log)
        let counters = try await bench.work(
            { $0.standstill = .seconds(1) }, log: log, storing: { StuckStore(inner: $0, gate: gate) },
            watching: { worker in
                while worker.standstill == nil { await Task.yield() }
                #expect(worker.standstill?.step == .look)
                gate.open()
                while worker.standstill != nil { await Task.yield() }
            })
        #expect(counters.unchanged == jobs.count)
    }

    @Test("One of whose seats one is wedged says so though others render, and lives again when it is free")
    func slots() async throws {
        let names = (0..<200).map { "/\($0).png" }
        for name in names {
            bench.origin.serve(
                name, .bytes(Pixels.photograph(width: 20, height: 20, seed: 1).png, type: "image/png"))
        }
        let (bench, log) = (bench, try await publish())
        try await bench.work(
            { $0.standstill = .seconds(1) }, log: log, rendering: { StuckRenderer(inner: $0, gate: gate) },
            watching: { worker in
                await gate.arrivals(1)
                var others = names[...]
                let renderOne = {
                    guard let name = others.popFirst() else { return }
                    let before = await worker.counters.stored
                    try? await bench.publish([(bench.url(name), ["16x16.png"], .fast)], to: log)
                    while await worker.counters.stored == before { await Task.yield() }
                }
                while worker.standstill == nil, !others.isEmpty { await renderOne() }
                while worker.standstill == nil { await Task.yield() }
                await renderOne()
                #expect(worker.standstill?.step == .render && worker.standstill?.count == 1)
                gate.open()
                while worker.standstill != nil { await Task.yield() }
            })
        #expect(try await bench.outcomes().allSatisfy { $0.kind == .stored })
    }

    @Test("One source whose render comes on part by part is no standstill, however long all of them take")
    func parts() async throws {
        let gates = [Gate(), Gate()]
        let log = try bench.log
        // More than a renderer is asked at once.
        let specs = ["webp", "jpg"].map { format in (1...33).map { "16x16-q\($0).\(format)" } }
        try await bench.publish(specs.map { (bench.url("/a.png"), $0, .fast) }, to: log)
        try await bench.work(
            { $0.standstill = .seconds(1) }, log: log, rendering: { GatedRenderer(inner: $0, gates: gates) },
            watching: { worker in
                while worker.standstill == nil { await Task.yield() }
                gates[0].open()
                await gates[1].arrivals(1)
                while worker.standstill != nil { await Task.yield() }
                gates[1].open()
            })
        #expect(try await bench.outcomes().map(\.kind) == [.stored, .stored])
    }

    @Test("One that waits for its log lives")
    func log() async throws {
        let log = try await publish()
        let moving = MovingLog(
            log,
            before: { [gate] records in
                if records.contains(where: { $0.topic == .variants && $0.key.count > 64 }) { await gate.wait() }
                return nil
            })
        try await bench.work(
            { $0.standstill = .milliseconds(500) }, log: log, moving: moving,
            watching: { worker in
                await gate.arrivals(1)
                // On a busy machine the render itself may have taken longer.
                while worker.standstill != nil { await Task.yield() }
                let begun = ContinuousClock.now
                while ContinuousClock.now - begun < .seconds(2) {
                    #expect(worker.standstill == nil)
                    await Task.yield()
                }
                gate.open()
            })
        #expect(try await bench.outcomes().map(\.kind) == [.stored])
    }
}
