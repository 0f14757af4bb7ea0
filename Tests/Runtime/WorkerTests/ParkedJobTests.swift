import Canonical
import Clocks
import EmbeddedLog
import Failures
import Foundation
import ImageModel
import Index
import Ports
import Posix
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("A worker runs parked jobs", .timeLimit(.minutes(2)))
struct ParkedJobTests {
    /// Jobs of one URL and the partition that owns it.
    private struct Jobs {
        let bench: Bench
        let source: SourceKey
        let partition: PartitionID
        let path: String

        init(_ bench: Bench, path: String = "/a.png") throws {
            (self.bench, self.path) = (bench, path)
            source = try bench.rules.source(of: bench.url(path)).key
            partition = source.partition(of: 4)
        }

        func row(
            _ number: Int64, attempt: Int = 0, due: WallTime = .epoch, ends: WallTime? = nil, seen: Int64 = 100,
            variant: String = "32x32.png", expires: String = ""
        ) -> ParkedRow {
            let record = Record(
                topic: .jobsFast, partition: partition, offset: number, timestamp: 1_000, key: [], value: [], headers: [])
            let note = RetryNote(
                job: "job-\(number)", lane: .fast, attempt: attempt, notBefore: due,
                firstSeen: WallTime(milliseconds: seen), cause: FailureNote(code: "c", message: "m", verdict: .retry),
                origin: RecordOrigin(record))
            return ParkedRow(
                source, .record(CompletedRecord(record)), note, host: OriginHost(of: bench.url("/")), worksAs: .fast,
                ends: ends, body: Array(#"{"url":"\#(bench.url(path))","variants":["\#(variant)"]\#(expires)}"#.utf8))
        }

        /// Appends rows as the last owner does.
        func park(_ rows: [ParkedRow], and records: [NewRecord] = []) async throws {
            let log = try bench.log
            var epoch: Int64 = 0
            for record in try await log.read(.parked, partition, from: 0, limit: 1_000) {
                if case .epoch(let row) = try ParkedEntry(record) { epoch = row.epoch }
            }
            try await bench.append(
                rows.map { $0.newRecord(partition: partition, at: 1).announced(in: epoch) } + records, to: log)
            await log.close()
        }

        /// Rows that `parked` holds.
        func rows() async throws -> [ParkedRow] {
            let log = try bench.log
            let records = try await log.latest(.parked, partition, keyPrefix: RecordKey.job(source).bytes)
            await log.close()
            return try records.compactMap { if case .change(.park(let row, _)) = try ParkedEntry($0) { row } else { nil } }
        }
    }

    private static func bench() async throws -> (Bench, Jobs) {
        let bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        try await bench.work()
        return (bench, try Jobs(bench))
    }

    @Test("Each gets one outcome, which names it, and then its row is deleted")
    func runs() async throws {
        let (bench, jobs) = try await Self.bench()
        try await jobs.park([jobs.row(1), jobs.row(2, variant: "16x16.png")])
        let counters = try await bench.work()
        #expect(counters.jobs == 2 && counters.requests == 1)
        #expect(try await bench.outcomes().map(\.job).sorted() == ["job-1", "job-2"])
        #expect(try await jobs.rows().isEmpty)
        let log = try bench.log
        let answers = try await log.read(.outcomes, jobs.partition, from: 0, limit: 10).compactMap { JobIdentity(completedBy: $0) }
        await log.close()
        #expect(Set(answers) == [jobs.row(1).identity, jobs.row(2).identity])
        // The next owner finds nothing to do.
        let again = try await bench.work()
        #expect(again.jobs == 0 && again.requests == 0)
    }

    @Test("One that fails gets its next row, with the attempt counted, until its last attempt")
    func fails() async throws {
        let (bench, jobs) = try await Self.bench()
        bench.origin.serve("/a.png", .status(500))
        try await jobs.park([jobs.row(1)])
        let appended = Mutex<[ParkedRow]>([])
        let log = try bench.log
        let moving = MovingLog(log) { records in
            for record in records where record.topic == .parked && record.value != nil {
                let read = Record(
                    topic: .parked, partition: record.partition, offset: 0, timestamp: 0, key: record.key,
                    value: record.value, headers: record.headers)
                if case .change(.park(let row, _))? = try? ParkedEntry(read) { appended.withLock { $0.append(row) } }
            }
            return nil
        }
        let counters = try await bench.work(log: log, moving: moving)
        #expect(counters.dead == 1)
        let rows = appended.withLock { $0 }
        #expect(rows.map(\.note.attempt) == [1, 2] && rows.allSatisfy { $0.note.notBefore > .epoch })
        #expect(rows.allSatisfy { $0.note.failingSince != nil && $0.ends != nil && $0.identity == jobs.row(1).identity })
        #expect(try await jobs.rows().isEmpty)
        #expect(try await bench.outcomes().map(\.kind) == [.dead])
    }

    @Test("One whose outcome an owner left without its tombstone is deleted, and does not run again")
    func completed() async throws {
        let (bench, jobs) = try await Self.bench()
        try await jobs.park([jobs.row(1)])
        let log = try bench.log
        let worker = Mutex<MovingLog?>(nil)
        let moving = MovingLog(log) { records in
            // The tombstone comes in a batch of its own, after the outcome.
            guard records.contains(where: { $0.topic == .parked && $0.value == nil }) else { return nil }
            await worker.withLock { $0 }?.kill()
            return .closed
        }
        worker.withLock { $0 = moving }
        await #expect(throws: LogFailure.closed) { try await bench.work(log: log, moving: moving) }
        #expect(try await bench.outcomes().count == 1)
        #expect(try await jobs.rows().count == 1)
        let counters = try await bench.work()
        #expect(counters.jobs == 0 && counters.requests == 0)
        #expect(try await bench.outcomes().count == 1)
        #expect(try await jobs.rows().isEmpty)
    }

    private static let later = SystemTime.wall + .hours(12)

    @Test("One that is not due stays parked; a run until idle with patience ends without it")
    func notDue() async throws {
        let (bench, jobs) = try await Self.bench()
        try await jobs.park([jobs.row(1, due: Self.later)])
        let counters = try await bench.work { $0.patience = .seconds(1) }
        #expect(counters.jobs == 0)
        #expect(try await jobs.rows() == [jobs.row(1, due: Self.later)])
    }

    @Test("One that expires gets its outcome then, though it is not due")
    func expires() async throws {
        let (bench, jobs) = try await Self.bench()
        try await jobs.park([
            jobs.row(1, due: Self.later, ends: 2_000, expires: #","expires":1577836800000"#)
        ])
        let counters = try await bench.work()
        #expect(counters.jobs == 1 && counters.requests == 0)
        #expect(try await bench.outcomes().map(\.kind) == [.expired])
        #expect(try await jobs.rows().isEmpty)
    }

    @Test("A record of a lane whose job is parked is finished, and does not run beside its row")
    func parkedBefore() async throws {
        let (bench, jobs) = try await Self.bench()
        let log = try bench.log
        try await bench.publish([(url: bench.url("/a.png"), variants: ["32x32.png"], lane: .fast)], to: log)
        let record = try #require(try await log.read(.jobsFast, jobs.partition, from: 0, limit: 1).first)
        await log.close()
        let row = jobs.row(1, due: Self.later)
        let parked = ParkedRow(
            row.source, .record(CompletedRecord(record)), row.note, host: row.host, worksAs: .fast, body: row.body)
        try await jobs.park([parked])
        let counters = try await bench.work { $0.patience = .seconds(1) }
        #expect(counters.jobs == 0 && counters.requests == 0)
        #expect(try await jobs.rows() == [parked])
        let again = try bench.log
        #expect(try await again.committed(.jobsFast, jobs.partition) == record.offset + 1)
        await again.close()
    }

    @Test("One whose writer's clock was a year ahead is due a day after its record came, at the latest")
    func clamped() async throws {
        let (bench, jobs) = try await Self.bench()
        try await jobs.park([jobs.row(1, due: SystemTime.wall + .days(365))])
        _ = try await bench.work { $0.patience = .seconds(1) }
        let due = try #require(try await jobs.rows().first).note.notBefore
        #expect(due <= SystemTime.wall + .days(1) && due > SystemTime.wall + .hours(23))
    }

    @Test("Two of one id and one source are two jobs, each with an outcome")
    func repeatedID() async throws {
        let (bench, jobs) = try await Self.bench()
        var rows = [jobs.row(1), jobs.row(2)]
        rows[1].note.job = "job-1"
        try await jobs.park(rows)
        let counters = try await bench.work()
        #expect(counters.jobs == 2)
        #expect(try await bench.outcomes().map(\.job) == ["job-1", "job-1"])
        #expect(try await jobs.rows().isEmpty)
    }
}
