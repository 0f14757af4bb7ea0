import EmbeddedLog
import Foundation
import ImageModel
import Ports
import Records
import Store
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("A worker whose store is not the one that rows are bound to", .timeLimit(.minutes(3)))
struct WorkerStoreTests {
    private let bench: Bench
    private var root: String { bench.folder.file("store") }
    private var away: String { bench.folder.file("away") }

    init() throws {
        bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 80, height: 60, seed: 1).png, type: "image/png"))
        bench.origin.serve("/b.png", .bytes(Pixels.photograph(width: 80, height: 60, seed: 2).png, type: "image/png"))
    }

    /// A run with one job for each path; `watching` sees the worker at work.
    private func work(
        _ paths: [String] = ["/a.png"], adopts: Bool = false, originals: String? = nil,
        watching: @escaping @Sendable (Worker) async -> Void = { _ in }
    ) async throws -> Counters {
        let log = try bench.log
        try await bench.publish(paths.map { (bench.url($0), ["32x32-q80.webp"], .fast) }, to: log)
        return try await bench.work({ $0.adoptsStore = adopts }, log: log, originals: originals, watching: watching)
    }

    /// Waits until the worker has said that the store is another, then stops it: no job was answered.
    private let heldThenStopped: @Sendable (Worker) async -> Void = { worker in
        try? await eventually { await (worker.counters.failures["store.mismatched"] ?? 0) > 0 }
        #expect(await worker.counters.jobs == 0)
        await worker.drain()
    }

    @Test(
        "Gone at the start, emptied, or another one: jobs wait, and go on when it is back",
        arguments: ["gone", "another"])
    func start(fault: String) async throws {
        #expect(try await work().stored == 1)
        try FileManager.default.moveItem(atPath: root, toPath: away)
        if fault == "another" {
            try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
            try Data("0123456789abcdef0123456789abcdef\n".utf8).write(to: URL(filePath: "\(root)/.identity"))
        }
        let held = try await work(watching: heldThenStopped)
        #expect(held.jobs == 0 && held.requests == 0)
        try FileManager.default.removeItem(atPath: root)
        try FileManager.default.moveItem(atPath: away, toPath: root)
        let back = try await work([])
        #expect(back.jobs == 1 && back.unchanged == 1 && back.requests == 0)
    }

    /// Found by hand: the originals' identity was that of the rows, and the other store was taken for the one.
    @Test("Another store that is whole, beside our originals, is not adopted by any partition, with rows or without")
    func mounted() async throws {
        let (ours, theirs) = (bench.folder.file("ours"), bench.folder.file("theirs"))
        #expect(try await work(originals: ours).stored == 1)
        let identity = try String(contentsOfFile: "\(ours)/.identity", encoding: .utf8)
        _ = try await FileStore(root: bench.folder.file("foreign"), originals: theirs).adopt()
        try FileManager.default.moveItem(atPath: root, toPath: away)
        try FileManager.default.moveItem(atPath: bench.folder.file("foreign"), toPath: root)
        let held = try await work(["/b.png"], originals: ours, watching: heldThenStopped)
        #expect(held.jobs == 0 && held.fetches == 0)
        #expect(try String(contentsOfFile: "\(ours)/.identity", encoding: .utf8) == identity)
        try FileManager.default.removeItem(atPath: root)
        try FileManager.default.moveItem(atPath: away, toPath: root)
        let back = try await work([], originals: ours)
        #expect(back.jobs == 1 && back.stored == 1 && back.failures.isEmpty)
    }

    @Test("With store.adopt what it lacks is made again, and later starts need no adopting")
    func adopted() async throws {
        #expect(try await work().stored == 1)
        try FileManager.default.removeItem(atPath: root)
        let adopted = try await work(adopts: true)
        #expect(adopted.jobs == 1 && adopted.unchanged == 0)
        let later = try await work()
        #expect(later.unchanged == 1 && later.failures.isEmpty)
    }

    @Test("Removed, or made anew, while the worker runs: jobs wait until it is back", arguments: [true, false])
    func running(isMadeAnew: Bool) async throws {
        #expect(try await work(["/a.png"]).stored == 1)
        let (bench, root, away) = (bench, root, away)
        let counters = try await work([]) { worker in
            do {
                // It has begun with the store: its job of another source is stored.
                let log = try bench.log
                try await bench.publish([(bench.url("/b.png"), ["32x32-q80.webp"], .fast)], to: log)
                try await eventually { await worker.counters.jobs == 1 }
                try FileManager.default.moveItem(atPath: root, toPath: away)
                if isMadeAnew {
                    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
                }
                try await bench.publish([(bench.url("/a.png"), ["32x32-q80.webp"], .fast)], to: log)
                try await eventually { await (worker.counters.failures["store.mismatched"] ?? 0) > 0 }
                #expect(await worker.counters.jobs == 1)
                if isMadeAnew { try FileManager.default.removeItem(atPath: root) }
                try FileManager.default.moveItem(atPath: away, toPath: root)
                try await eventually { await worker.counters.jobs == 2 }
                await log.close()
            } catch { Issue.record(error) }
            await worker.drain()
        }
        #expect(counters.jobs == 2 && counters.stored == 1 && counters.unchanged == 1 && counters.fetches == 1)
    }

    @Test(
        "A log and a store from before identities are bound to each other once; without its blobs the store is not the one"
    )
    func before() async throws {
        #expect(try await work().stored == 1)
        // As 454fb1b leaves them: no identity in the folder, and none in any row.
        func strip() async throws {
            for name in [".identity", ".identity.originals", ".originals/.identity"] {
                try? FileManager.default.removeItem(atPath: "\(root)/\(name)")
            }
            let log = try bench.log
            try await bench.append(
                (0..<4).map { ProgressRow(partition: PartitionID($0), topics: [:], at: 1).newRecord() }, to: log)
            await log.close()
            try FileManager.default.removeItem(atPath: bench.folder.file("index"))
        }
        try await strip()
        #expect(try await work().unchanged == 1)
        #expect(FileManager.default.fileExists(atPath: "\(root)/.identity"))
        try await strip()
        try FileManager.default.moveItem(atPath: root, toPath: away)
        #expect(try await work(watching: heldThenStopped).jobs == 0)
    }
}
