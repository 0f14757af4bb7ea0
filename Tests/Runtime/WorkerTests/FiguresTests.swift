import Canonical
import Foundation
import ImageModel
import Ports
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("A worker's figures while it restores", .timeLimit(.minutes(2)))
struct FiguresTests {
    /// One source with one variant is stored, and no index knows of it.
    private func unindexed() async throws -> Bench {
        let bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        let log = try bench.log
        try await bench.publish([(url: bench.url("/a.png"), variants: ["64x64-q80.webp"], lane: .fast)], to: log)
        try await bench.work(log: log)
        try FileManager.default.removeItem(atPath: bench.folder.file("index"))
        return bench
    }

    @Test(
        "Rows that an index does not take are left to be restored, and what it fails by is counted, until it takes them"
    )
    func restoring() async throws {
        let bench = try await unindexed()
        let full = Full()
        let seen = Mutex<[WorkerStatus]>([])
        let counters = try await bench.work(
            indexes: { FullIndexes($0, full) },
            watching: { worker in
                await full.refusals(3)
                let figures = await worker.status
                seen.withLock { $0.append(figures) }
                full.end()
            })
        let figures = try #require(seen.withLock { $0.first })
        // The clean end of the first run in the other partitions; here two rows and both epochs more.
        #expect(figures.restoring >= 1 && figures.rowsLeft >= 4 && !figures.isReady)
        #expect(figures.counters.failures["index.unavailable"] ?? 0 >= 3)
        #expect(figures.owned.count == 4 && figures.assignments == 4)
        #expect(counters.restoredRows == 2)
    }

    @Test("An index that is found damaged at work is restored as one that came: it is known how much is to be taken in")
    func rebuilding() async throws {
        let bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        for isFirst in [true, false] {
            let log = try bench.log
            try await bench.publish([(url: bench.url("/a.png"), variants: ["64x64-q80.webp"], lane: .fast)], to: log)
            guard !isFirst else {
                try await bench.work(log: log)
                continue
            }
            let full = Full()
            let seen = Mutex<[WorkerStatus]>([])
            let counters = try await bench.work(
                log: log,
                indexes: {
                    FullIndexes(FailingIndexes($0, folder: bench.folder.file("index"), .lookUp), full, sparing: 4)
                },
                watching: { worker in
                    await full.refusals(3)
                    // The partitions without a job may still restore.
                    try? await eventually { await worker.status.restoring == 1 }
                    let figures = await worker.status
                    seen.withLock { $0.append(figures) }
                    full.end()
                })
            let figures = try #require(seen.withLock { $0.first })
            // Two rows, and the epochs of both runs.
            #expect(figures.restoring == 1 && figures.restore.expected >= 4)
            #expect(counters.unchanged == 1 && counters.restoredRows == 2)
        }
    }

    @Test("Partitions that are lost before they are restored are not waited for")
    func losing() async throws {
        let bench = try await unindexed()
        let full = Full()
        let again = try bench.log
        let moving = MovingLog(again)
        let seen = Mutex<[WorkerStatus]>([])
        let counters = try await bench.work(
            { $0.untilIdle = false }, log: again, moving: moving, indexes: { FullIndexes($0, full) },
            watching: { worker in
                await full.refusals(3)
                let before = await worker.status
                for partition in before.owned { await moving.lose(partition) }
                let after = await worker.status
                seen.withLock { $0 = [before, after] }
                full.end()
                await worker.drain()
            })
        let figures = seen.withLock { $0 }
        try #require(figures.count == 2)
        #expect(figures[0].restore.expected >= 4 && figures[1].owned.isEmpty)
        #expect(figures[1].restore.expected == 0 && figures[1].restore.rows == 0 && counters.restoredRows == 0)
    }
}

@Suite("Whether a worker lives", .timeLimit(.minutes(2)))
struct SilenceTests {
    @Test("One whose thread stands still grows silent, and is heard of again when that goes on")
    func standingStill() async throws {
        let bench = try Bench()
        let log = try bench.log
        let moving = MovingLog(log)
        let heard = Mutex<[Bool]>([])
        try await bench.work(
            { $0.untilIdle = false }, log: log, moving: moving,
            watching: { worker in
                let (stands, goesOn) = (Gate(), DispatchSemaphore(value: 0))
                async let standing: Void = moving.onThread {
                    stands.open()
                    goesOn.wait()
                }
                await stands.wait()
                func note(_ isSo: @escaping @Sendable () -> Bool) async {
                    let isSo = (try? await eventually { isSo() }) != nil
                    heard.withLock { $0.append(isSo) }
                }
                await note { worker.silence > .milliseconds(300) }
                goesOn.signal()
                await standing
                await note { worker.silence < .milliseconds(300) }
                await worker.drain()
            })
        #expect(heard.withLock { $0 } == [true, true])
    }
}

/// Whether indexes take rows, and how often they did not.
private final class Full: Sendable {
    private let isOver = Mutex(false)
    private let gate = Gate()

    /// Whether a row is refused now.
    func refuses() -> Bool {
        let refuses = isOver.withLock { !$0 }
        if refuses { Task { await gate.wait() } }
        return refuses
    }

    func refusals(_ count: Int) async { await gate.arrivals(count) }

    func end() {
        isOver.withLock { $0 = true }
        gate.open()
    }
}

private final class FullIndexes: VariantIndexes {
    private let inner: any VariantIndexes
    private let full: Full
    private let spared: Mutex<Int>

    /// `sparing`: so many are opened first that take every row.
    init(_ inner: any VariantIndexes, _ full: Full, sparing count: Int = 0) {
        (self.inner, self.full) = (inner, full)
        spared = Mutex(count)
    }

    func open(_ partition: PartitionID) throws(IndexFailure) -> (index: any VariantIndex, rebuilt: String?) {
        let (index, rebuilt) = try inner.open(partition)
        let left = spared.withLock {
            $0 -= 1
            return $0
        }
        return (left >= 0 ? index : FullIndex(index, full), rebuilt)
    }
}

private final class FullIndex: VariantIndex {
    private let inner: any VariantIndex
    private let full: Full
    var checkpoint: IndexCheckpoint? { inner.checkpoint }
    var progress: ProgressRow? { inner.progress }
    var parked: any ParkedIndex { inner.parked }

    init(_ inner: any VariantIndex, _ full: Full) { (self.inner, self.full) = (inner, full) }

    func isEmpty() throws(IndexFailure) -> Bool { try inner.isEmpty() }
    func snapshot(of source: SourceKey) throws(IndexFailure) -> SourceSnapshot { try inner.snapshot(of: source) }

    func apply(
        _ changes: [IndexChange], progress: ProgressRow?, upTo position: Int64, epoch: Int64, isOpened: Bool,
        fingerprints: ChangelogFingerprints?
    ) throws(IndexFailure) {
        if full.refuses() { throw .unavailable(path: "index", reason: "the test says so") }
        try inner.apply(
            changes, progress: progress, upTo: position, epoch: epoch, isOpened: isOpened, fingerprints: fingerprints)
    }

    func wipe() throws(IndexFailure) { try inner.wipe() }
    func close() { inner.close() }
}
