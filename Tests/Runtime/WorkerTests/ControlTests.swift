import Canonical
import Clocks
import EmbeddedLog
import Failures
import Foundation
import ImageModel
import Ports
import Posix
import Records
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("A worker applies controls to jobs that were published before them", .timeLimit(.minutes(2)))
struct ControlTests {
    private let bench: Bench
    private let source: SourceKey
    private let partition: PartitionID
    private static let later = SystemTime.wall + .hours(12)

    init() throws {
        bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        source = try bench.rules.source(of: bench.url("/a.png")).key
        partition = source.partition(of: 4)
    }

    private func job(_ id: String, variant: String, lane: Lane = .fast) throws -> NewRecord {
        try Intake(rules: bench.rules).job(
            url: bench.url("/a.png"), variants: [try bench.rules.spec(of: variant)], id: id, lane: lane
        ).newRecord(partitions: 4, at: 0)
    }

    private func url() -> SourceURL { SourceURL(bench.url("/a.png"), hiding: bench.rules.hidden) }

    private func row(_ number: Int64, lane: Lane = .slow, due: WallTime = later) -> ParkedRow {
        let record = Record(
            topic: .jobs(lane), partition: partition, offset: number, timestamp: 1_000, key: [], value: [], headers: [])
        let note = RetryNote(
            job: "job-\(number)", lane: lane, attempt: 1, notBefore: due, firstSeen: 100,
            cause: FailureNote(code: "c", message: "m", verdict: .retry), origin: RecordOrigin(record))
        return ParkedRow(
            source, .record(CompletedRecord(record)), note, host: OriginHost(of: bench.url("/")), worksAs: lane,
            body: Array(#"{"url":"\#(bench.url("/a.png"))","variants":["\#(16 + number)x32.png"]}"#.utf8))
    }

    /// Appends rows as the last owner does, and these records.
    private func append(_ rows: [ParkedRow], _ records: [NewRecord]) async throws {
        let log = try bench.log
        var epoch: Int64 = 0
        for record in try await log.read(.parked, partition, from: 0, limit: 1_000) {
            if case .epoch(let row) = try ParkedEntry(record) { epoch = row.epoch }
        }
        try await bench.append(rows.map { $0.newRecord(partition: partition, at: 1).announced(in: epoch) } + records, to: log)
        await log.close()
    }

    private func rows() async throws -> [String: ParkedRow] {
        var rows: [String: ParkedRow] = [:]
        for record in try await bench.parkedRecords() {
            if case .change(.park(let row, _)) = try ParkedEntry(record) { rows[row.note.job] = row }
        }
        return rows
    }

    private func kinds() async throws -> [String: OutcomeKind] {
        Dictionary(uniqueKeysWithValues: try await bench.outcomes().map { ($0.job, $0.kind) })
    }

    /// Outcomes of controls, as text.
    private func controls() async throws -> [String] {
        let log = try bench.log
        var texts: [String] = []
        for record in try await log.read(.outcomes, partition, from: 0, limit: 1_000) where record.isOfControl {
            texts.append(String(decoding: record.value ?? [], as: UTF8.self))
        }
        await log.close()
        return texts
    }

    @Test("Jobs that no worker has read are cancelled by id, by source and by filter, and cause no request", arguments: [
        Control.Scope.job("a"), .filter(Control.Filter(host: "127.0.0.1")), .filter(Control.Filter(lane: .fast)), nil,
    ])
    func unread(scope: Control.Scope?) async throws {
        let control = Control(id: "c", .cancel, scope ?? .source(source, url()), by: "me", why: "test")
        try await append([], [try job("a", variant: "32x32.png"), control.newRecord(partition: partition)])
        let counters = try await bench.work()
        #expect(counters.requests == 0)
        #expect(try await kinds() == ["a": .cancelled])
        let texts = try await controls()
        let begin =
            #"{"control":"c","verb":"cancel","partition":\#(partition),"kind":"applied","jobs":1,"by":"me","why":"test","at":"#
        #expect(texts.map { $0.hasPrefix(begin) } == [true], "\(texts)")
        // The control is over: a job of the same id that is published later is not affected.
        try await append([], [try job("a", variant: "24x24.png")])
        #expect(try await bench.work().requests == 1)
        #expect(try await controls().count == 1)
    }

    @Test("A control without effect is over at once, and says so")
    func unknown() async throws {
        let ends: [Topic: Int64] = [.jobsFast: 0, .jobsSlow: 0]
        let control = Control(id: "c", .cancel, .source(source, url()), ends: ends)
        try await append([], [try job("a", variant: "32x32.png"), control.newRecord(partition: partition)])
        try await bench.work()
        #expect(try await kinds() == ["a": .stored])
        #expect(try await controls().map { $0.contains(#""kind":"unknown","jobs":0"#) } == [true])
    }

    @Test("Parked jobs end, though they are not due; others stay")
    func parked() async throws {
        try await bench.work()
        let control = Control(id: "c", .cancel, .job("job-1"))
        try await append([row(1), row(2)], [control.newRecord(partition: partition)])
        try await bench.work { $0.patience = .seconds(1) }
        #expect(try await kinds() == ["job-1": .cancelled])
        #expect(try await rows().keys.sorted() == ["job-2"])
    }

    @Test("A parked job moves to another lane, with its attempts and age, and stays there when it is parked again")
    func moved() async throws {
        try await bench.work()
        let control = Control(id: "c", .promote, .source(source, url()))
        try await append([row(1), row(2, due: 200)], [control.newRecord(partition: partition)])
        bench.origin.serve("/a.png", .status(500))
        try await bench.work { $0.patience = .milliseconds(1) }
        let row = try #require(try await rows()["job-1"])
        #expect(row.worksAs == .fast && row.isMoved && row.note.lane == .slow && row.note.attempt == 1)
        #expect(row.note.firstSeen == 100 && row.note.notBefore == self.row(1).note.notBefore)
    }

    @Test("The last cancel of a running fetch aborts it")
    func running() async throws {
        let host = try BrokenOrigin(.silence)
        let log = try bench.log
        let job = try Intake(rules: bench.rules).job(
            url: host.url("/a.png"), variants: [try bench.rules.spec(of: "32x32.png")], id: "a", lane: .fast)
        try await bench.append([job.newRecord(partitions: 4, at: 0)], to: log)
        let own = job.source.partition(of: 4)
        try await bench.work(log: log, watching: { [bench] worker in
            try? await eventually { host.connectionCount > 0 }
            try? await bench.append([Control(id: "c", .cancel, .job("a")).newRecord(partition: own)], to: log)
            try? await eventually { await worker.counters.jobs > 0 }
        })
        #expect(try await kinds() == ["a": .cancelled])
    }

    @Test("A control that cannot be applied changes nothing, and its outcome has the reason", arguments: [
        (#"{"kind":"purge","job":"a"}"#, "control.invalid"), (#"{"kind":"cancel"}"#, "control.invalid"),
        (#"{"kind":"cancel","url":"http://127.0.0.1:1/b.png"}"#, "control.misplaced"), ("", "control.invalid"),
    ])
    func refused(body: String, code: String) async throws {
        // In a partition that does not own the URL.
        let other = try bench.rules.source(of: "http://127.0.0.1:1/b.png").key.partition(of: 4)
        let place = other == partition ? PartitionID((partition.number + 1) % 4) : partition
        let record = NewRecord(topic: .control, partition: place, key: [], value: Array(body.utf8))
        try await append([], [try job("a", variant: "32x32.png"), record])
        try await bench.work()
        #expect(try await kinds() == ["a": .stored])
        let log = try bench.log
        let outcomes = try await log.read(.outcomes, place, from: 0, limit: 10).filter(\.isOfControl)
        await log.close()
        #expect(outcomes.count == 1)
        let text = String(decoding: outcomes.first?.value ?? [], as: UTF8.self)
        #expect(text.contains(code))
    }
}
