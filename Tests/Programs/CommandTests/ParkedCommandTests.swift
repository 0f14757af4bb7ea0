import Canonical
import Clocks
import EmbeddedLog
import Failures
import Foundation
import ImageModel
import Ports
import Records
import TestSupport
import Testing

@Suite("mezzotint parked export", .timeLimit(.minutes(1)))
struct ParkedCommandTests {
    private static let url = "http://a.example/b.jpg"
    private static let body = Array(#"{"url":"http://a.example/b.jpg","variants":["20x20.png"]}"#.utf8)
    private static let source = try! CanonicalRules().source(of: url).key
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func run(_ words: String...) throws -> Ended {
        try Built.run("mezzotint", ["--set", "data=data", "parked", "export"] + words, in: folder.url)
    }

    private func figures() throws -> [[String: Int]] {
        let ended = try run("--json")
        #expect(ended.status == 0, "\(ended.errors)")
        let all = try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [[String: Int]])
        return all.filter { ($0["jobs"] ?? 0) + ($0["ended"] ?? 0) > 0 }
    }

    private func using<Result>(_ body: (any Log, PartitionID) async throws -> Result) async throws -> Result {
        let log = try EmbeddedLog(folder.file("data/log"))
        let result = try await body(log, Self.source.partition(of: log.partitionCount))
        await log.close()
        return result
    }

    private func append(_ records: [NewRecord], to log: any Log) async {
        for result in await log.append(records) { #expect(result.offset != nil) }
    }

    private static func identity(_ offset: Int64) -> JobIdentity { JobIdentity("jobs.fast-3-\(offset)-1763802000000")! }

    private static func row(_ identity: JobIdentity, job: String) -> ParkedRow {
        let note = RetryNote(
            job: job, lane: .slow, attempt: 2, notBefore: 1_700_000_100_000, firstSeen: 1_700_000_000_000,
            failingSince: 1_700_000_000_500, crashes: 1,
            cause: FailureNote(code: "fetch.server-error", message: "The origin answered 503.", verdict: .retry),
            origin: RecordOrigin(topic: .jobsSlow, partition: PartitionID(3), offset: 7))
        return ParkedRow(
            source, identity, note, host: OriginHost(group: "http://a.example"), worksAs: .slow,
            ends: 1_900_000_000_000, body: body, kept: [RecordHeader("mz_signature", "v1;a;00")])
    }

    /// The owner's epoch rows and rows, as the partition's last owners wrote them.
    private func park(_ rows: [(row: ParkedRow, epoch: Int64)], after epochs: [Int64], in log: any Log, _ partition: PartitionID)
        async
    {
        for epoch in epochs {
            let opening = EpochRow(partition: partition, epoch: epoch, owner: "w", isClean: false, at: 5)
            await append([opening.newRecord(topic: .parked).announced(in: epoch)], to: log)
        }
        await append(
            rows.map { $0.row.newRecord(partition: partition, at: 5).announced(in: $0.epoch) }, to: log)
    }

    @Test("A job moves to retry.1m as it waits, with its attempts and its identity, and its row is deleted after that")
    func export() async throws {
        let rows = [
            (row: Self.row(Self.identity(1), job: "a"), epoch: Int64(9)),
            (row: Self.row(JobIdentity(ofOwn: "refresh-1"), job: "refresh-1"), epoch: Int64(9)),
        ]
        try await using { log, partition in await park(rows, after: [4, 9], in: log, partition) }
        let dry = try run("--dry-run")
        #expect(dry.status == 0 && dry.output.hasSuffix("2 jobs would be moved to retry.1m.\n"), "\(dry.output)")
        #expect(dry.output.contains(" a slow 2023-11-14T22:15:00.000Z fetch.server-error\n"), "\(dry.output)")
        #expect(try figures().map { $0["jobs"] } == [2])
        try await using { log, partition in
            let moved = try await log.read(.retry1m, partition, from: 0, limit: 10)
            #expect(moved.count == 2)
            for (record, row) in zip(moved, rows.map(\.row)) {
                var note = row.note
                note.host = nil
                #expect(try RetryNote(record) == note)
                #expect(record.key == RecordKey.job(Self.source).bytes && record.value == Self.body)
                #expect(JobIdentity(completedBy: record) == row.identity)
                #expect(record.header("mz_signature") == "v1;a;00")
                #expect(record.header("mz_epoch") == nil)
            }
            #expect(try await log.latest(.parked, partition, keyPrefix: RecordKey.job(Self.source).bytes).isEmpty)
            let last = try await log.bounds(.parked, partition)
            let tombstones = try await log.read(.parked, partition, from: last.upperBound - 2, limit: 2)
            // A later owner of 0.2.0 counts only records of an owner's epoch.
            #expect(tombstones.map(\.epoch) == [9, 9] && tombstones.allSatisfy { $0.value == nil })
        }
        #expect(try figures().isEmpty)
    }

    @Test("A job that an interrupted export has moved, or whose outcome is in the log, is not moved again; its row goes")
    func once() async throws {
        let (moved, ended) = (Self.row(Self.identity(1), job: "a"), Self.row(Self.identity(2), job: "b"))
        try await using { log, partition in
            await park([(moved, 4), (ended, 4)], after: [4], in: log, partition)
            await append([moved.retried(partition: partition, at: 6)], to: log)
            let progress = ProgressRow(partition: partition, topics: [:], answers: [.outcomes: 0], at: 6)
            var outcome = Outcome(
                job: "b", source: Self.source, url: SourceURL(Self.url), lane: .slow, kind: .stored, variants: [], at: 6
            ).newRecord(partition: partition)
            outcome.headers.append(completed: ended.identity)
            await append([progress.newRecord().announced(in: 4), outcome], to: log)
        }
        let figures = try figures()
        #expect(figures.map { $0["jobs"] } == [0] && figures.map { $0["ended"] } == [2])
        try await using { log, partition in
            let retried = try await log.read(.retry1m, partition, from: 0, limit: 10)
            let rows = try await log.latest(.parked, partition, keyPrefix: RecordKey.job(Self.source).bytes)
            #expect(retried.count == 1 && rows.isEmpty)
        }
    }

    @Test("A row whose epoch row was compacted moves, too, and fences no other")
    func unopened() async throws {
        let rows = [(1, Int64(9)), (2, 12), (3, 9)].map { (row: Self.row(Self.identity($0), job: "j\($0)"), epoch: $1) }
        try await using { log, partition in await park(rows, after: [9], in: log, partition) }
        #expect(try figures().map { $0["jobs"] } == [3])
        try await using { log, partition in
            let end = try await log.bounds(.parked, partition).upperBound
            let tombstones = try await log.read(.parked, partition, from: end - 3, limit: 3)
            #expect(tombstones.map(\.epoch) == [9, 12, 9])
        }
    }

    @Test("Rows of a fenced owner and of other programs are no jobs; a row that cannot be read stays, with status 1")
    func foreign() async throws {
        try await using { log, partition in
            await park([(Self.row(Self.identity(1), job: "fenced"), 4)], after: [9], in: log, partition)
            var broken = Self.row(Self.identity(3), job: "broken").newRecord(partition: partition, at: 5)
            broken.headers = RecordHeaders(broken.headers.filter { $0.name != "mz_host" })
            await append(
                [
                    Self.row(Self.identity(2), job: "foreign").newRecord(partition: partition, at: 5),
                    broken.announced(in: 9),
                ], to: log)
        }
        let ended = try run()
        #expect(ended.status == 1 && ended.output == "0 jobs were moved to retry.1m.\n", "\(ended.output)")
        #expect(ended.errors.contains(": rows of parked that cannot be read and stay there: 1."), "\(ended.errors)")
        try await using { log, partition in
            let retried = try await log.bounds(.retry1m, partition)
            let rows = try await log.latest(.parked, partition, keyPrefix: RecordKey.job(Self.source).bytes)
            #expect(retried.isEmpty && rows.count == 3)
        }
    }
}
