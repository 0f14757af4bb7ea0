import EmbeddedLog
import Foundation
import ImageModel
import Index
import Ports
import Records
import Synchronization
import Telemetry
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("An index that is not of the log's changelog", .timeLimit(.minutes(2)))
struct ForeignIndexTests {
    private static func bench(serving count: Int) throws -> (bench: Bench, paths: [String]) {
        let bench = try Bench()
        let paths = (0..<count).map { "/\($0).png" }
        for (number, path) in paths.enumerated() {
            let photo = Pixels.photograph(width: 60, height: 40, seed: UInt64(number))
            bench.origin.serve(path, .bytes(photo.png, type: "image/png"))
        }
        return (bench, paths)
    }

    private static func work(
        _ bench: Bench, _ paths: [String], logger: Logger = Logger(level: .error)
    ) async throws -> Counters {
        let log = try bench.log
        try await bench.publish(paths.map { (bench.url($0), ["16x16-q80.webp"], .fast) }, to: log)
        return try await bench.work(log: log, logger: logger)
    }

    /// The indexes of one data folder in the place of another's.
    private static func move(_ from: Bench, _ to: Bench) throws {
        try FileManager.default.removeItem(atPath: to.folder.file("index"))
        try FileManager.default.copyItem(atPath: from.folder.file("index"), toPath: to.folder.file("index"))
    }

    /// A log that is longer tells nothing by its end.
    @Test(
        "Of another data folder, whose log was shorter or longer: it is named, dropped and rebuilt; nothing is made again",
        arguments: [4, 40])
    func foreign(count: Int) async throws {
        let (ours, paths) = try Self.bench(serving: 20)
        #expect(try await Self.work(ours, paths).stored == 20)
        let (theirs, others) = try Self.bench(serving: count)
        #expect(try await Self.work(theirs, others).stored == count)
        try Self.move(theirs, ours)
        let counters = try await Self.work(ours, paths)
        #expect((counters.failures["index.mismatched"] ?? 0) >= 1)
        #expect(counters.jobs == 20 && counters.unchanged == 20 && counters.requests == 0)
        // The next start finds nothing to complain of.
        let again = try await Self.work(ours, paths)
        #expect(again.failures["index.mismatched"] == nil && again.unchanged == 20 && again.restoredRows == 0)
    }

    @Test("Of this log, and older: it is gone on with, where none of the rows is left that it folded last, made anew")
    func older() async throws {
        let (bench, paths) = try Self.bench(serving: 12)
        #expect(try await Self.work(bench, Array(paths[..<6])).stored == 6)
        let kept = bench.folder.file("kept")
        try FileManager.default.copyItem(atPath: bench.folder.file("index"), toPath: kept)
        #expect(try await Self.work(bench, paths).stored == 6)
        func bringBack() throws {
            try FileManager.default.removeItem(atPath: bench.folder.file("index"))
            try FileManager.default.copyItem(atPath: kept, toPath: bench.folder.file("index"))
        }
        try bringBack()
        let older = try await Self.work(bench, paths)
        // The rows of six sources, but those of their partitions' fingerprints.
        #expect(older.unchanged == 12 && older.requests == 0 && older.failures["index.mismatched"] == nil)
        #expect(older.restoredRows == 12, "two rows a source, six of them new")
        // Every row is renewed.
        try await renew(bench, paths)
        try bringBack()
        let renewed = try await Self.work(bench, paths)
        #expect(renewed.unchanged == 12 && renewed.requests == 0 && renewed.failures["index.mismatched"] == nil)
        #expect(renewed.restoredRows == 24)
    }

    /// So an index is left by a worker that ends before it has published its rows in a changelog that was recreated.
    @Test("Whose checkpoint names no row of the changelog: every row is restored once, and the log says why")
    func withoutFingerprints() async throws {
        let (bench, paths) = try Self.bench(serving: 6)
        #expect(try await Self.work(bench, paths).stored == 6)
        let log = try bench.log
        for partition in log.partitions {
            let (index, _) = try SQLiteVariantIndexes(bench.folder.file("index")).open(partition)
            let start = try await log.bounds(.variants, partition).lowerBound
            // A partition without a row has no file.
            if let epoch = index.checkpoint?.epoch {
                try index.apply(
                    [], progress: nil, upTo: start, epoch: epoch, isOpened: true, fingerprints: ChangelogFingerprints())
            }
            index.close()
        }
        await log.close()
        let file = bench.folder.file("lines")
        try Data().write(to: URL(filePath: file))
        let lines = try #require(FileHandle(forWritingAtPath: file))
        let logger = Logger(level: .warning, to: LogOutput(lines.fileDescriptor, isTerminal: false))
        let counters = try await Self.work(bench, paths, logger: logger)
        #expect(counters.unchanged == 6 && counters.requests == 0 && counters.failures["index.mismatched"] == nil)
        #expect(counters.restoredRows == 12, "two rows a source")
        // One line for each index that has rows, and no other reason.
        let told = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").filter { $0.contains("index") }
        let why = "it names no row by which this changelog could be recognised"
        #expect(
            !told.isEmpty && told.allSatisfy { $0.contains("The index is rebuilt from the changelog: \(why).") },
            "\(told)")
    }

    private func renew(_ bench: Bench, _ paths: [String]) async throws {
        let log = try bench.log
        var records: [NewRecord] = []
        for number in 0..<Int32(log.partitionCount) {
            for record in try await log.read(.variants, PartitionID(number), from: 0, limit: 1_000) {
                guard case .change = try ChangelogEntry(record) else { continue }
                records.append(
                    NewRecord(
                        topic: .variants, partition: record.partition, key: record.key, value: record.value,
                        headers: RecordHeaders(record.headers.filter { $0.name != "mz_epoch" })))
            }
        }
        try await bench.append(records, to: log)
        await log.close()
    }

    @Test("Whose disk is full when it is opened: jobs wait, and are done when there is room")
    func full() async throws {
        let (bench, paths) = try Self.bench(serving: 8)
        let refusals = Mutex(0)
        let log = try bench.log
        try await bench.publish(paths.map { (bench.url($0), ["16x16-q80.webp"], .fast) }, to: log)
        let counters = try await bench.work(
            log: log, indexes: { FullIndexFolder($0, refusing: 6) { refusals.withLock { $0 += 1 } } })
        #expect(counters.stored == 8 && counters.failed == 0 && counters.dead == 0)
        #expect((counters.failures["index.full"] ?? 0) >= 6 && refusals.withLock { $0 } == 6)
        #expect(try await Self.work(bench, paths).unchanged == 8)
    }
}

/// The disk has no room for an index file the first times.
private final class FullIndexFolder: VariantIndexes {
    private let inner: any VariantIndexes
    private let left: Mutex<Int>
    private let refused: @Sendable () -> Void

    init(_ inner: any VariantIndexes, refusing count: Int, refused: @escaping @Sendable () -> Void) {
        (self.inner, self.refused) = (inner, refused)
        left = Mutex(count)
    }

    func open(_ partition: PartitionID) throws(IndexFailure) -> (index: any VariantIndex, rebuilt: String?) {
        let refuses = left.withLock {
            $0 -= 1
            return $0 >= 0
        }
        guard !refuses else {
            refused()
            throw .full(path: "index")
        }
        return try inner.open(partition)
    }
}
