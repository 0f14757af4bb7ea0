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

@Suite("A worker starts no job that is paused", .timeLimit(.minutes(2)))
struct PauseTests {
    private let bench: Bench
    private let partition: PartitionID

    init() throws {
        bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        partition = try bench.rules.source(of: bench.url("/a.png")).key.partition(of: 4)
    }

    private func append(_ records: NewRecord...) async throws {
        let log = try bench.log
        try await bench.append(records, to: log)
        await log.close()
    }

    private func job(_ lane: Lane = .slow) throws -> NewRecord {
        try Intake(rules: bench.rules).job(
            url: bench.url("/a.png"), variants: [try bench.rules.spec(of: "32x32.png")], id: "a", lane: lane
        ).newRecord(partitions: 4, at: 0)
    }

    private func control(_ verb: Control.Verb, _ scope: Control.Scope, _ id: String, for time: Duration? = nil)
        -> NewRecord
    {
        Control(id: id, verb, scope, by: "me", until: time.map { SystemTime.wall + $0 }).newRecord(partition: partition)
    }

    /// Outcomes of controls: id, kind.
    private func controls() async throws -> [String] {
        let log = try bench.log
        let records = try await log.read(.outcomes, partition, from: 0, limit: 1_000)
        await log.close()
        return try records.compactMap { try ControlOutcome($0) }.map { "\($0.control) \($0.kind)" }
    }

    /// A run until idle that a pause ends.
    private func runPaused() async throws {
        let failure = await #expect(throws: LogFailure.self) { try await bench.work { $0.patience = .seconds(1) } }
        #expect(failure?.code == "log.paused", "\(failure?.description ?? "")")
        #expect(failure?.description.contains("'mezzotint resume'") == true)
        #expect(try await bench.outcomes().isEmpty)
    }

    private func parkedCodes() async throws -> [String] {
        try await bench.parkedRecords().compactMap {
            if case .change(.park(let row, _)) = try ParkedEntry($0) { row.note.cause.code } else { nil }
        }
    }

    @Test(
        "A pause survives a restart, and a resume ends it; a paused lane stays unread, a paused host's jobs are parked",
        arguments: [
            (Control.Scope.all, [String]()), (.filter(.init(lane: .slow)), []),
            (.filter(.init(host: "127.0.0.1")), ["retry.paused"]),
        ])
    func survives(scope: Control.Scope, parked: [String]) async throws {
        try await append(try job(), control(.pause, scope, "p", for: .hours(1)))
        try await runPaused()
        #expect(try await parkedCodes() == parked)
        #expect(try await controls() == ["p applied"])
        // The control's record is gone from the topic: the progress row has the pause.
        try await runPaused()
        try await append(control(.resume, scope, "r"))
        #expect(try await bench.work().requests == 1)
        #expect(try await bench.outcomes().map(\.kind) == [.stored])
        #expect(try await controls() == ["p applied", "r applied"])
    }

    @Test("A pause ends by itself, also one that no worker saw before")
    func ends() async throws {
        let begun = SystemTime.wall
        try await append(try job(), control(.pause, .all, "p", for: .seconds(4)))
        #expect(try await bench.work().requests == 1)
        #expect(SystemTime.wall - begun >= .seconds(4))
        #expect(try await controls() == ["p applied"])
    }

    @Test("A fast job is not held back by a paused slow lane; a resume of nothing says so")
    func other() async throws {
        try await append(
            try job(.fast), control(.pause, .filter(.init(lane: .slow)), "p", for: .hours(1)),
            control(.resume, .filter(.init(lane: .fast)), "r"))
        #expect(try await bench.work { $0.patience = .zero }.requests == 1)
        #expect(try await controls().sorted() == ["p applied", "r unknown"])
    }

    @Test("A control for another job ends while a lane is paused: the jobs before it are read and parked")
    func standing() async throws {
        try await append(
            control(.pause, .filter(.init(lane: .slow)), "p", for: .hours(1)), try job(), control(.cancel, .job("b"), "c"))
        try await runPaused()
        #expect(try await controls().sorted() == ["c unknown", "p applied"])
        #expect(try await parkedCodes() == ["retry.paused"])
    }

    @Test(
        "A cancel ends paused jobs, and a promotion takes a parked one out of a paused lane",
        arguments: [
            (Control.Verb.cancel, OutcomeKind.cancelled, 0), (.promote, .stored, 1),
        ])
    func ruled(verb: Control.Verb, kind: OutcomeKind, requests: Int) async throws {
        // Parked for its host first, then its lane is paused instead.
        let host = Control.Scope.filter(.init(host: "127.0.0.1"))
        try await append(try job(), control(.pause, host, "h", for: .hours(1)))
        try await runPaused()
        try await append(
            control(.pause, .filter(.init(lane: .slow)), "l", for: .hours(1)), control(.resume, host, "r"),
            control(verb, .job("a"), "c"))
        #expect(try await bench.work { $0.patience = .zero }.requests == requests)
        #expect(try await bench.outcomes().map(\.kind) == [kind])
    }
}
