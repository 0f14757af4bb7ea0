import Canonical
import Clocks
import Digest
import Failures
import Foundation
import ImageModel
import Index
import MemoryIndex
import Ports
import Records
import SQLite
import TestSupport
import Testing

/// The contract of parked jobs, for every adapter of the index port.
@Suite("Parked jobs of an index", .timeLimit(.minutes(1)))
struct ParkedIndexTests {
    enum Adapter: CaseIterable { case memory, sqlite }

    let folder: TemporaryFolder
    static let partition = PartitionID(3)

    init() throws { folder = try TemporaryFolder() }

    private func open(_ adapter: Adapter) throws -> any ParkedIndex {
        switch adapter {
        case .memory: InMemoryParkedIndex()
        case .sqlite: try SQLiteVariantIndexes(folder.file("index")).open(Self.partition).index.parked
        }
    }

    static func row(
        _ number: Int64, source: Int = 1, host: String = "a.example", lane: Lane = .fast, worksAs: Lane? = nil,
        seen: Int64 = 100, due: WallTime = .epoch, ends: WallTime? = nil, id: String? = nil,
        padding: Int = 0
    ) -> ParkedRow {
        let record = Record(
            topic: .jobs(lane), partition: partition, offset: number, timestamp: 1_000, key: [], value: [], headers: [])
        let note = RetryNote(
            job: id ?? "job-\(number)", lane: lane, attempt: 1, notBefore: due, firstSeen: WallTime(milliseconds: seen),
            failingSince: 90, cause: FailureNote(code: "c", message: "m", verdict: .retry), origin: RecordOrigin(record))
        return ParkedRow(
            SourceKey(SHA256.digest(of: [UInt8(source)])), .record(CompletedRecord(record)), note,
            host: OriginHost(group: host), worksAs: worksAs ?? lane, ends: ends,
            body: Array("{\(number)}\(String(repeating: " ", count: padding))".utf8),
            kept: [RecordHeader("mz_signature", "s")])
    }

    /// The same job in a later row.
    private static func again(_ row: ParkedRow, due: WallTime) -> ParkedRow {
        var note = row.note
        note.notBefore = due
        return ParkedRow(
            row.source, row.identity, note, host: row.host, worksAs: row.worksAs, body: row.body, kept: row.kept)
    }

    private static let fast = ParkedShare(OriginHost(group: "a.example"), .fast)

    @Test("A job is found by identity, by source and by id, as its row was", arguments: Adapter.allCases)
    func finds(adapter: Adapter) throws {
        let index = try open(adapter)
        #expect(index.parkedCheckpoint == nil && index.parkedCounts.isEmpty)
        let rows = [Self.row(1, id: "same"), Self.row(2, source: 2, id: "same"), Self.row(3)]
        try index.applyParked(
            rows.enumerated().map { .park($1, offset: Int64($0)) }, upTo: 7, epoch: 4, fingerprints: nil)
        #expect(index.parkedCheckpoint?.position == 7 && index.parkedCheckpoint?.epoch == 4)
        let found = try index.parked(rows[0].source, rows[0].identity)
        #expect(found == ParkedJob(rows[0], offset: 0, isReady: true))
        #expect(try index.parked(rows[1].source, rows[0].identity) == nil)
        #expect(try index.parked(of: rows[0].source, limit: 9).map(\.row) == [rows[0], rows[2]])
        #expect(try index.parked(of: rows[0].source, limit: 1).map(\.row) == [rows[0]])
        #expect(try index.parked(id: "same", limit: 9).map(\.offset) == [0, 1])
        #expect(try index.parked(id: "other", limit: 9).isEmpty)
    }

    @Test("A later row replaces the row of its key, and a tombstone removes it; counts follow", arguments: Adapter.allCases)
    func replaces(adapter: Adapter) throws {
        let index = try open(adapter)
        let row = Self.row(1)
        try index.applyParked([.park(row, offset: 1)], upTo: 2, epoch: 1, fingerprints: nil)
        #expect(index.parkedCounts == [Self.fast: ParkedCount(jobs: 1, ready: 1)])
        let later = Self.again(row, due: 500)
        try index.applyParked([.park(later, offset: 2)], upTo: 3, epoch: 1, fingerprints: nil)
        #expect(try index.parked(row.source, row.identity) == ParkedJob(later, offset: 2, isReady: false))
        #expect(index.parkedCounts == [Self.fast: ParkedCount(jobs: 1, ready: 0)])
        let drop = ParkedChange.drop(row.source, row.identity)
        try index.applyParked([drop, drop], upTo: 5, epoch: 1, fingerprints: nil)
        #expect(try index.parked(row.source, row.identity) == nil)
        #expect(index.parkedCounts.isEmpty && index.parkedCheckpoint?.position == 5)
    }

    @Test("Once no job is parked, the disk has the room again that the WAL took for many")
    func emptiesWAL() throws {
        let index = try open(.sqlite)
        func size() throws -> Int {
            let facts = try FileManager.default.attributesOfItem(atPath: folder.file("index/3.sqlite-wal"))
            return try #require(facts[.size] as? Int)
        }
        let rows = (0..<Int64(400)).map { Self.row($0, padding: 7_000) }
        for (offset, row) in rows.enumerated() {
            try index.applyParked([.park(row, offset: Int64(offset))], upTo: Int64(offset) + 1, epoch: 1, fingerprints: nil)
        }
        #expect(try size() > 2 << 20)
        try index.applyParked(
            rows.map { .drop($0.source, $0.identity) }, upTo: 800, epoch: 1, fingerprints: nil)
        #expect(try size() == 0 && index.parkedCounts.isEmpty)
    }

    @Test("Ready jobs of a host and lane come by the time when they were first seen", arguments: Adapter.allCases)
    func order(adapter: Adapter) throws {
        let index = try open(adapter)
        let rows = [
            Self.row(1, seen: 30), Self.row(2, seen: 10), Self.row(3, seen: 20, due: 900), Self.row(4, seen: 10),
            Self.row(5, host: "b.example", seen: 1), Self.row(6, lane: .slow, seen: 2),
            Self.row(7, worksAs: .slow, seen: 3),
        ]
        try index.applyParked(
            rows.map { row in
                guard case .record(let first) = row.identity else { return .drop(row.source, row.identity) }
                return .park(row, offset: first.offset)
            }, upTo: 8, epoch: 1, fingerprints: nil)
        #expect(try index.oldest(of: Self.fast, from: 0, limit: 9).map(\.offset) == [2, 4, 1])
        #expect(try index.oldest(of: Self.fast, from: 1, limit: 1).map(\.offset) == [4])
        let slow = ParkedShare(OriginHost(group: "a.example"), .slow)
        #expect(try index.oldest(of: slow, from: 0, limit: 9).map(\.offset) == [6, 7])
        #expect(try index.oldest(of: ParkedShare(OriginHost(group: "c.example"), .fast), from: 0, limit: 9).isEmpty)
        #expect(try index.oldestSeen(.fast)?.milliseconds == 1 && index.oldestSeen(.slow)?.milliseconds == 2)
        #expect(index.parkedCounts[Self.fast] == ParkedCount(jobs: 4, ready: 3))
    }

    @Test("A job is ready once it was seen due, and stays so if the clock is set back", arguments: Adapter.allCases)
    func due(adapter: Adapter) throws {
        let index = try open(adapter)
        let rows = (1...4).map { Self.row($0, seen: 100 - $0, due: WallTime(milliseconds: 1_000 * $0)) }
        try index.applyParked(
            rows.enumerated().map { .park($1, offset: Int64($0)) }, upTo: 4, epoch: 1, fingerprints: nil)
        #expect(try index.nextDue()?.milliseconds == 1_000)
        #expect(try index.ready(at: 999, limit: 9) == 0 && index.oldest(of: Self.fast, from: 0, limit: 9).isEmpty)
        #expect(try index.ready(at: 3_000, limit: 2) == 2)
        #expect(try index.oldest(of: Self.fast, from: 0, limit: 9).map(\.offset) == [1, 0])
        #expect(try index.nextDue()?.milliseconds == 3_000)
        #expect(try index.ready(at: 500, limit: 9) == 0)
        #expect(try index.oldest(of: Self.fast, from: 0, limit: 9).count == 2)
        #expect(try index.ready(at: 9_000, limit: 9) == 2 && index.nextDue() == nil)
        #expect(index.parkedCounts == [Self.fast: ParkedCount(jobs: 4, ready: 4)])
        try index.applyParked([.drop(rows[0].source, rows[0].identity)], upTo: 5, epoch: 1, fingerprints: nil)
        #expect(index.parkedCounts == [Self.fast: ParkedCount(jobs: 3, ready: 3)])
    }

    @Test("Jobs that expire or are abandoned are found by then, whether their host has room or not", arguments: Adapter.allCases)
    func ends(adapter: Adapter) throws {
        let index = try open(adapter)
        let rows = [Self.row(1, due: 900, ends: 300), Self.row(2, ends: 200), Self.row(3), Self.row(4, ends: 400)]
        try index.applyParked(
            rows.enumerated().map { .park($1, offset: Int64($0)) }, upTo: 4, epoch: 1, fingerprints: nil)
        #expect(try index.nextDue()?.milliseconds == 200)
        #expect(try index.ending(at: 199, limit: 9).isEmpty)
        #expect(try index.ending(at: 300, limit: 9).map(\.offset) == [1, 0])
        #expect(try index.ending(at: 900, limit: 1).map(\.row) == [rows[1]])
        try index.applyParked(rows[..<2].map { .drop($0.source, $0.identity) }, upTo: 6, epoch: 1, fingerprints: nil)
        #expect(try index.nextDue()?.milliseconds == 400)
    }

    @Test("Two jobs whose first records have one offset are two jobs", arguments: Adapter.allCases)
    func collision(adapter: Adapter) throws {
        let index = try open(adapter)
        let rows = [Self.row(1), Self.row(1, lane: .slow), Self.row(1, source: 2)]
        try index.applyParked(
            rows.enumerated().map { .park($1, offset: Int64($0)) }, upTo: 3, epoch: 1, fingerprints: nil)
        try index.applyParked([.drop(rows[1].source, rows[1].identity)], upTo: 4, epoch: 1, fingerprints: nil)
        #expect(try rows.map { try index.parked($0.source, $0.identity)?.offset } == [0, nil, 2])
    }

    @Test("The highest offset of a first record is known, or a higher one; own jobs have none", arguments: Adapter.allCases)
    func reach(adapter: Adapter) throws {
        let index = try open(adapter)
        #expect(index.parkedReach == nil)
        let own = ParkedRow(
            Self.row(1).source, JobIdentity(ofOwn: "refresh"), Self.row(1).note, host: Self.row(1).host, worksAs: .fast,
            body: [])
        try index.applyParked([.park(own, offset: 0)], upTo: 1, epoch: 1, fingerprints: nil)
        #expect(index.parkedReach == nil)
        let rows = [Self.row(9), Self.row(4, lane: .slow)]
        try index.applyParked(rows.map { .park($0, offset: 1) }, upTo: 2, epoch: 1, fingerprints: nil)
        #expect(index.parkedReach == 9)
        try index.wipeParked()
        #expect(index.parkedReach == nil)
    }

    @Test("Without its parked jobs, the table is empty and has no checkpoint", arguments: Adapter.allCases)
    func wipes(adapter: Adapter) throws {
        let index = try open(adapter)
        try index.applyParked([.park(Self.row(1), offset: 1)], upTo: 2, epoch: 1, fingerprints: nil)
        try index.wipeParked()
        #expect(index.parkedCheckpoint == nil && index.parkedCounts.isEmpty)
        #expect(try index.parked(of: Self.row(1).source, limit: 9).isEmpty && index.nextDue() == nil)
    }

    @Test("Random changes: the file holds what memory holds, also after it was opened again")
    func model() throws {
        var random = SeededRandom(seed: 36)
        let memory = InMemoryParkedIndex()
        let indexes = SQLiteVariantIndexes(folder.file("index"))
        var index = try indexes.open(Self.partition).index
        for step: Int64 in 1...300 {
            let changes = (0..<Int.random(in: 0...5, using: &random)).map { place -> ParkedChange in
                let row = Self.row(
                    .random(in: 0..<40, using: &random), source: .random(in: 1...3, using: &random),
                    host: Bool.random(using: &random) ? "a.example" : "b.example",
                    worksAs: Bool.random(using: &random) ? .fast : .slow, seen: .random(in: 0..<50, using: &random),
                    due: Bool.random(using: &random) ? .epoch : WallTime(milliseconds: .random(in: 1..<400, using: &random)),
                    ends: Bool.random(using: &random) ? nil : WallTime(milliseconds: .random(in: 1..<400, using: &random)))
                if Int.random(in: 0..<3, using: &random) == 0 { return .drop(row.source, row.identity) }
                return .park(row, offset: step * 10 + Int64(place))
            }
            for parked in [memory as any ParkedIndex, index.parked] {
                try parked.applyParked(changes, upTo: step * 10 + 9, epoch: step, fingerprints: nil)
                _ = try parked.ready(at: WallTime(milliseconds: step), limit: 3)
            }
            if step % 50 == 0 {
                index.close()
                index = try indexes.open(Self.partition).index
            }
            let parked = index.parked
            #expect(parked.parkedCounts == memory.parkedCounts)
            #expect(parked.parkedCheckpoint?.position == memory.parkedCheckpoint?.position)
            #expect(try parked.nextDue() == memory.nextDue())
            #expect(parked.parkedReach ?? 0 >= memory.parkedReach ?? 0)
            let now = WallTime(milliseconds: step)
            #expect(try parked.ending(at: now, limit: 5) == memory.ending(at: now, limit: 5))
            for lane in Lane.allCases { #expect(try parked.oldestSeen(lane) == memory.oldestSeen(lane)) }
            for share in memory.parkedCounts.keys {
                #expect(try parked.oldest(of: share, from: 0, limit: 99) == memory.oldest(of: share, from: 0, limit: 99))
            }
        }
    }
}

/// The table of parked jobs in an index file, beside the rows of sources.
@Suite("Parked jobs in an index file", .timeLimit(.minutes(1)))
struct ParkedFileTests {
    let folder: TemporaryFolder
    let indexes: SQLiteVariantIndexes
    static let partition = ParkedIndexTests.partition

    init() throws {
        folder = try TemporaryFolder()
        indexes = SQLiteVariantIndexes(folder.file("index"))
    }

    private var path: String { folder.file("index/3.sqlite") }

    @Test("Parked jobs and rows of sources have checkpoints of their own, and neither deletes the other's")
    func checkpoints() throws {
        let index = try indexes.open(Self.partition).index
        try index.apply(Rows(1).changes, upTo: 17)
        #expect(index.parked.parkedCheckpoint == nil)
        try index.parked.applyParked([.park(ParkedIndexTests.row(1), offset: 1)], upTo: 2, epoch: 5, fingerprints: nil)
        index.close()
        let again = try indexes.open(Self.partition).index
        #expect(again.position == 17 && again.parked.parkedCheckpoint?.position == 2)
        try again.parked.wipeParked()
        #expect(again.position == 17 && again.parked.parkedCheckpoint == nil)
        try again.parked.applyParked([.park(ParkedIndexTests.row(1), offset: 1)], upTo: 2, epoch: 5, fingerprints: nil)
        try again.wipe()
        #expect(again.position == nil && again.parked.parkedCheckpoint?.position == 2)
        #expect(again.parked.parkedCounts.values.map(\.jobs) == [1])
    }

    @Test("A file of an older version gets the tables, and keeps its rows of sources")
    func older() throws {
        let index = try indexes.open(Self.partition).index
        try index.apply(Rows(1).changes, upTo: 17)
        index.close()
        do {
            let file = try Connection(path, .create)
            try file.execute("DROP TABLE parked; DROP TABLE parked_position; DROP TABLE shares")
        }
        let (again, rebuilt) = try indexes.open(Self.partition)
        #expect(rebuilt == nil && again.position == 17 && again.parked.parkedCheckpoint == nil)
        try again.parked.applyParked([.park(ParkedIndexTests.row(1), offset: 1)], upTo: 2, epoch: 1, fingerprints: nil)
        #expect(again.parked.parkedCheckpoint?.position == 2)
    }

    @Test(
        "Parked jobs without a sound checkpoint are dropped alone",
        arguments: ["DELETE FROM parked_position", "UPDATE parked_position SET inverse = 5"])
    func damagedCheckpoint(sql: String) throws {
        let index = try indexes.open(Self.partition).index
        try index.apply(Rows(1).changes, upTo: 17)
        try index.parked.applyParked([.park(ParkedIndexTests.row(1), offset: 1)], upTo: 2, epoch: 1, fingerprints: nil)
        index.close()
        do { try Connection(path, .create).execute(sql) }
        let (again, rebuilt) = try indexes.open(Self.partition)
        #expect(rebuilt == nil && again.position == 17)
        #expect(again.parked.parkedCheckpoint == nil && again.parked.parkedCounts.isEmpty)
        #expect(try again.parked.parked(of: ParkedIndexTests.row(1).source, limit: 9).isEmpty)
    }

    @Test("A damaged row puts the file aside, as a damaged row of a source does")
    func damagedRow() throws {
        let index = try indexes.open(Self.partition).index
        try index.parked.applyParked([.park(ParkedIndexTests.row(1), offset: 1)], upTo: 2, epoch: 1, fingerprints: nil)
        index.close()
        do { try Connection(path, .create).execute("UPDATE parked SET body = zeroblob(length(body))") }
        let again = try indexes.open(Self.partition).index
        let failure = #expect(throws: IndexFailure.self) {
            try again.parked.parked(of: ParkedIndexTests.row(1).source, limit: 9)
        }
        #expect(failure?.kind == .corrupt)
        #expect(try indexes.open(Self.partition).index.parked.parkedCounts.isEmpty)
    }

    @Test("A partition without rows has no file, and its progress in `parked` is in memory")
    func noFile() throws {
        let index = try indexes.open(Self.partition).index
        try index.parked.applyParked([], upTo: 2, epoch: 1, fingerprints: nil)
        #expect(index.parked.parkedCheckpoint?.position == 2 && index.parked.parkedCounts.isEmpty)
        try index.apply(Rows(1).changes, upTo: 17)
        #expect(index.parked.parkedCheckpoint?.position == 2)
        index.close()
        #expect(try indexes.open(Self.partition).index.parked.parkedCheckpoint == nil)
    }
}
