import Canonical
import EmbeddedLog
import Failures
import Foundation
import ImageModel
import Index
import Ports
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("An index that is found damaged while the worker runs", .timeLimit(.minutes(2)))
struct DamagedIndexTests {
    private let bench: Bench

    init() throws {
        bench = try Bench()
        for name in ["a", "b", "c", "d"] {
            let photo = Pixels.photograph(width: 200, height: 150, seed: UInt64(name.utf8.first ?? 0))
            bench.origin.serve("/\(name).png", .bytes(photo.png, type: "image/png"))
        }
    }

    private func publish(_ names: [String]) async throws {
        let log = try bench.log
        try await bench.publish(names.map { (bench.url("/\($0).png"), ["64x64-q80.webp"], .fast) }, to: log)
        await log.close()
    }

    @Test(
        "It is rebuilt in place, and its jobs wait: what is stored is known again, nothing is fetched twice",
        arguments: [
            FailingIndexes.Part.lookUp, .apply,
        ])
    func rebuilt(part: FailingIndexes.Part) async throws {
        try await publish(["a", "b", "c"])
        #expect(try await bench.work().stored == 3)
        try await publish(["a", "b", "c", "d"])
        let failing = Mutex<FailingIndexes?>(nil)
        let counters = try await bench.work(indexes: { inner in
            let indexes = FailingIndexes(inner, folder: bench.folder.file("index"), part)
            failing.withLock { $0 = indexes }
            return indexes
        })
        #expect(counters.jobs == 4 && counters.unchanged == 3 && counters.stored == 1 && counters.fetches == 1)
        #expect(counters.savedFetches == 3)
        #expect(failing.withLock { $0?.opened ?? 0 } > 4, "an index was opened anew")
    }

    /// Seen to fail: the checkpoint's epoch counted as an owner's epoch row. So an index is left by a worker that is killed
    /// after it folded a former owner's row, which came first into a recreated changelog.
    @Test("An index of an epoch without an epoch row: the partition with committed jobs stays stopped")
    func unopened() async throws {
        try await publish(["a"])
        try await bench.work()
        let log = try bench.log
        let partition = try bench.rules.source(of: bench.url("/a.png")).key.partition(of: log.partitionCount)
        let end = try await log.bounds(.variants, partition).upperBound
        await log.close()
        let (index, _) = try SQLiteVariantIndexes(bench.folder.file("index")).open(partition)
        let left = try #require(index.checkpoint)
        #expect(left.isOpened && left.epoch > 0)
        try index.apply(
            [], progress: nil, upTo: end, epoch: left.epoch, isOpened: false, fingerprints: left.fingerprints)
        index.close()
        let failure = await #expect(throws: LogFailure.self) { try await bench.work() }
        #expect(failure?.code == "log.recreated")
    }
}

/// Indexes of which each is found damaged at its first use of one kind, and sound once it was made anew.
final class FailingIndexes: VariantIndexes {
    enum Part: Sendable { case lookUp, apply }

    private let inner: any VariantIndexes
    private let folder: String
    private let part: Part
    private let failed = Mutex<Set<PartitionID>>([])
    private let openings = Mutex(0)

    /// How often an index was opened.
    var opened: Int { openings.withLock { $0 } }

    init(_ inner: any VariantIndexes, folder: String, _ part: Part) {
        (self.inner, self.folder, self.part) = (inner, folder, part)
    }

    func open(_ partition: PartitionID) throws(IndexFailure) -> (index: any VariantIndex, rebuilt: String?) {
        openings.withLock { $0 += 1 }
        let (index, rebuilt) = try inner.open(partition)
        return (FailingIndex(index) { self.isFirst($0, of: partition) }, rebuilt)
    }

    /// Whether the index of this partition is to be found damaged now; then its file is set aside, as the index does.
    private func isFirst(_ part: Part, of partition: PartitionID) -> Bool {
        guard part == self.part, failed.withLock({ $0.insert(partition).inserted }) else { return false }
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: "\(folder)/\(partition).sqlite\(suffix)")
        }
        return true
    }
}

private final class FailingIndex: VariantIndex {
    private let inner: any VariantIndex
    private let isDamaged: (FailingIndexes.Part) -> Bool
    var checkpoint: IndexCheckpoint? { inner.checkpoint }
    var progress: ProgressRow? { inner.progress }
    var parked: any ParkedIndex { inner.parked }

    init(_ inner: any VariantIndex, isDamaged: @escaping (FailingIndexes.Part) -> Bool) {
        (self.inner, self.isDamaged) = (inner, isDamaged)
    }

    func isEmpty() throws(IndexFailure) -> Bool { try inner.isEmpty() }
    func snapshot(of source: SourceKey) throws(IndexFailure) -> SourceSnapshot {
        if isDamaged(.lookUp) { throw damage }
        return try inner.snapshot(of: source)
    }

    func apply(
        _ changes: [IndexChange], progress: ProgressRow?, upTo position: Int64, epoch: Int64, isOpened: Bool,
        fingerprints: ChangelogFingerprints?
    ) throws(IndexFailure) {
        if isDamaged(.apply) { throw damage }
        try inner.apply(
            changes, progress: progress, upTo: position, epoch: epoch, isOpened: isOpened, fingerprints: fingerprints)
    }

    func wipe() throws(IndexFailure) { try inner.wipe() }
    func close() { inner.close() }

    private var damage: IndexFailure {
        inner.close()
        return .corrupt(path: "index", reason: "the test says so")
    }
}
