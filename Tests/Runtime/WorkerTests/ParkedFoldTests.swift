import Canonical
import Clocks
import Digest
import EmbeddedLog
import Failures
import Foundation
import ImageModel
import Index
import Ports
import Posix
import Records
import TestSupport
import Testing
import WorkerRuntime

@Suite("A worker applies `parked` to its index", .timeLimit(.minutes(2)))
struct ParkedFoldTests {
    private static let partition = PartitionID(1)
    /// The epoch of the first owner.
    private static let zombie: Int64 = 1

    /// The rows are not due for long: a run until idle ends without them.
    private static let due = SystemTime.wall + .hours(12)

    private static let patient = { @Sendable (configuration: inout WorkerConfiguration) in
        configuration.patience = .seconds(1)
    }

    private static func row(_ number: Int64) -> ParkedRow {
        let record = Record(
            topic: .jobsFast, partition: partition, offset: number, timestamp: 1_000, key: [], value: [], headers: [])
        let note = RetryNote(
            job: "job-\(number)", lane: .fast, attempt: 1, notBefore: due, firstSeen: 1,
            cause: FailureNote(code: "c", message: "m", verdict: .retry), origin: RecordOrigin(record))
        return ParkedRow(
            SourceKey(SHA256.digest(of: [UInt8(number)])), .record(CompletedRecord(record)), note, host: OriginHost(group: "a"),
            worksAs: .fast, body: Array("{}".utf8))
    }

    /// The newest record of each key in `parked`, tombstones too.
    private static func newest(_ bench: Bench) async throws -> [RecordKey: ParkedEntry] {
        let log = try bench.log
        var newest: [RecordKey: ParkedEntry] = [:]
        for record in try await log.read(.parked, partition, from: 0, limit: 1_000) {
            newest[try #require(RecordKey(record.key))] = try ParkedEntry(record)
        }
        await log.close()
        return newest
    }

    private static func epoch(_ bench: Bench) async throws -> Int64 {
        guard case .epoch(let row)? = try await newest(bench)[.epoch(partition)] else { return 0 }
        return row.epoch
    }

    private static func append(_ records: [NewRecord], to bench: Bench) async throws {
        let log = try bench.log
        try await bench.append(records, to: log)
        await log.close()
    }

    private static func index(_ bench: Bench) throws -> any VariantIndex {
        try SQLiteVariantIndexes(bench.folder.file("index")).open(partition).index
    }

    /// Appends rows as an owner does, and runs a worker over them.
    private static func parked(_ rows: [ParkedRow], at bench: Bench) async throws {
        try await bench.work(Self.patient)
        let epoch = try await epoch(bench)
        try await append(rows.map { $0.newRecord(partition: partition, at: 1).announced(in: epoch) }, to: bench)
        try await bench.work(Self.patient)
    }

    @Test("Each owner opens its epoch in `parked`, and the index has its rows")
    func epochs() async throws {
        let bench = try Bench()
        try await bench.work(Self.patient)
        let first = try await Self.epoch(bench)
        #expect(first > 0)
        try await Self.parked([Self.row(1), Self.row(2)], at: bench)
        #expect(try await Self.epoch(bench) > first)
        let index = try Self.index(bench)
        #expect(index.parked.parkedCounts.values.map(\.jobs) == [2])
        #expect(try index.parked.parked(Self.row(1).source, Self.row(1).identity)?.row == Self.row(1))
        index.close()
    }

    @Test("An index that was lost has the same rows again; one that was deleted from the log has none")
    func restores() async throws {
        let bench = try Bench()
        try await Self.parked([Self.row(1), Self.row(2)], at: bench)
        let epoch = try await Self.epoch(bench)
        let drop = ParkedRow.drop(Self.row(1).source, Self.row(1).identity, partition: Self.partition)
        try await Self.append([drop.announced(in: epoch)], to: bench)
        try FileManager.default.removeItem(atPath: bench.folder.file("index"))
        try await bench.work(Self.patient)
        let index = try Self.index(bench)
        #expect(try index.parked.parked(Self.row(1).source, Self.row(1).identity) == nil)
        #expect(try index.parked.parked(Self.row(2).source, Self.row(2).identity)?.row == Self.row(2))
        index.close()
    }

    @Test("Rows and tombstones of a fenced owner count for nothing, and the valid state is published again")
    func fenced() async throws {
        let bench = try Bench()
        try await Self.parked([Self.row(1)], at: bench)
        try await Self.append(
            [
                ParkedRow.drop(Self.row(1).source, Self.row(1).identity, partition: Self.partition)
                    .announced(in: Self.zombie),
                Self.row(2).newRecord(partition: Self.partition, at: 1).announced(in: Self.zombie),
            ], to: bench)
        try await bench.work(Self.patient)
        let newest = try await Self.newest(bench)
        guard case .change(.park(let row, _))? = newest[Self.row(1).key] else {
            Issue.record("the row of job 1 is gone")
            return
        }
        #expect(row == Self.row(1))
        #expect(newest[Self.row(2).key] == .change(.drop(Self.row(2).source, Self.row(2).identity)))
        // An index that begins with nothing counts the same.
        try FileManager.default.removeItem(atPath: bench.folder.file("index"))
        try await bench.work(Self.patient)
        let index = try Self.index(bench)
        #expect(index.parked.parkedCounts.values.map(\.jobs) == [1])
        index.close()
    }

    @Test("Records of a publisher count for nothing: they are named, and the valid state is published again")
    func publisher() async throws {
        let bench = try Bench()
        try await Self.parked([Self.row(1)], at: bench)
        var other = Self.row(1)
        other.worksAs = .slow
        var torn = Self.row(1).newRecord(partition: Self.partition, at: 1)
        torn.headers = []
        try await Self.append(
            [
                other.newRecord(partition: Self.partition, at: 1), Self.row(2).newRecord(partition: Self.partition, at: 1),
                NewRecord(topic: .parked, partition: Self.partition, key: Array("x".utf8), value: [1]), torn,
            ], to: bench)
        let counters = try await bench.work(Self.patient)
        // The log keeps the last of the two records of one key.
        #expect(counters.failures["record.header"] == 3)
        let newest = try await {
            let log = try bench.log
            let records = try await log.latest(.parked, Self.partition, keyPrefix: Self.row(1).key.bytes)
            await log.close()
            return records
        }()
        #expect(try newest.map { try ParkedEntry($0) }.count == 1)
        let index = try Self.index(bench)
        #expect(try index.parked.parked(Self.row(1).source, Self.row(1).identity)?.row == Self.row(1))
        #expect(index.parked.parkedCounts.values.map(\.jobs) == [1])
        index.close()
    }

    @Test("A row that its owner wrote and nobody can read stays out, and the job that the index has stays in")
    func unreadable() async throws {
        let bench = try Bench()
        try await Self.parked([Self.row(1)], at: bench)
        let epoch = try await Self.epoch(bench)
        var torn = Self.row(1).newRecord(partition: Self.partition, at: 1)
        torn.headers = []
        try await Self.append([torn.announced(in: epoch)], to: bench)
        let counters = try await bench.work(Self.patient)
        #expect((counters.failures["record.header"] ?? 0) >= 1)
        guard case .change(.park(let row, _))? = try await Self.newest(bench)[Self.row(1).key] else {
            Issue.record("the row of job 1 is gone")
            return
        }
        #expect(row == Self.row(1))
    }

    @Test("A table that stands behind another log of `parked` stops its partition, and keeps its rows")
    func recreated() async throws {
        let bench = try Bench()
        try await Self.parked([Self.row(1)], at: bench)
        let index = try Self.index(bench)
        try index.parked.applyParked([], upTo: 100_000, epoch: 9, fingerprints: nil)
        index.close()
        let log = try bench.log
        await #expect(throws: LogFailure.self) { try await bench.work(Self.patient, log: log) }
        let kept = try Self.index(bench)
        #expect(kept.parked.parkedCounts.values.map(\.jobs) == [1])
        kept.close()
    }
}
