import Canonical
import Clocks
import ImageModel
import Ports
import Records
import Telemetry
import TestSupport
import Testing

@testable import WorkerRuntime

@Suite("A line a minute for each lane", .timeLimit(.minutes(1)))
struct LaneLinesTests {
    private static let start: WallTime = 1_790_000_000_000

    private static func offsets(_ end: Int64, _ topic: Topic = .jobsFast, _ partition: Int32 = 0) -> PartitionOffsets {
        PartitionOffsets(topic: topic, partition: PartitionID(partition), bounds: 0..<end, committed: nil)
    }

    private static let targets = ByLane<Duration> { $0 == .fast ? .seconds(5) : .seconds(3600) }
    private static let busy = LaneStatus(
        oldest: start, unfinished: 12, parked: 2, fetches: 3, renders: 7, inProgress: 1)
    private static let idle = LaneStatus(oldest: nil, unfinished: 0, parked: 0, fetches: 0, renders: 0, inProgress: 0)

    private static func waiting(_ parked: Int) -> LaneStatus {
        LaneStatus(oldest: nil, unfinished: 0, parked: parked, fetches: 0, renders: 0, inProgress: 0)
    }

    @Test("It says how old the oldest job is, what came and went in the minute, and what the others wait for")
    func line() {
        var lines = LaneLines(targets: Self.targets, at: Self.start)
        let owned: Set = [PartitionID(0)]
        lines.count([Self.offsets(100)], owned: owned)
        lines.count([Self.offsets(130), Self.offsets(999, .jobsFast, 7)], owned: owned)
        #expect(!lines.isDue(at: Self.start + 59_999) && lines.isDue(at: Self.start + 60_000))
        let counters = Counters()
        let told = lines.lines([.fast: Self.busy, .slow: Self.idle], counters, at: Self.start + 60_000)
        #expect(
            told.map(\.text) == [
                "Parked jobs: 2; 0 failed attempts in the last minute.",
                "Fast lane late: oldest job 60.0 s; 30 received, 0 completed, 0 failed in the last minute; 12 pending (1 in progress, 3 waiting to fetch, 7 to render, 2 parked)."
            ])
        #expect(told.last?.fields.first { $0.key == "in" }?.value == .int(30))
        #expect(told.last?.fields.first { $0.key == "late" }?.value == .bool(true))
    }

    @Test("Parked jobs are told, though nothing of their lane's own topic is unfinished; those in old retry topics count too")
    func parked() {
        var lines = LaneLines(targets: Self.targets, at: Self.start)
        let owned: Set = [PartitionID(0)]
        lines.count([Self.offsets(0)], owned: owned)
        lines.count([Self.offsets(60), Self.offsets(87, .retry1m), Self.offsets(9, .retry1m, 7)], owned: owned)
        var counters = Counters()
        counters.retries = 60
        #expect(
            lines.lines([.fast: Self.waiting(3), .slow: Self.waiting(2)], counters, at: Self.start + 60_000).map(\.text)
                == [
                    "Parked jobs: 92; 60 failed attempts in the last minute.",
                    "Fast lane: no new job pending; 60 received, 0 completed, 0 failed in the last minute.",
                ])
        lines.count([Self.offsets(60), Self.offsets(0, .retry1m)], owned: owned)
        #expect(lines.lines([.fast: Self.idle], counters, at: Self.start + 120_000).isEmpty)
    }

    @Test("One line says that a lane is late, and one that it is in time again, however long it is either")
    func changes() {
        var lines = LaneLines(targets: Self.targets, at: Self.start)
        func told(_ status: LaneStatus, after seconds: Int64) -> [String] {
            lines.changes([.fast: status, .slow: status], Counters(), at: Self.start + .seconds(seconds)).map(\.text)
        }
        #expect(told(Self.busy, after: 5) == [])
        #expect(
            told(Self.busy, after: 6) == [
                "Fast lane late: oldest job 6.0 s (target 5.0 s); 12 pending (1 in progress, 3 waiting to fetch, 7 to render, 2 parked)."
            ])
        #expect(told(Self.busy, after: 7) == [] && told(Self.busy, after: 3) == [])
        #expect(told(Self.idle, after: 40) == ["Fast lane back on target after 34 s."])
        #expect(told(Self.idle, after: 41) == [])
    }

    @Test("A late job that is parked does not bring its lane back on target; an end of it, or of the last parked job, does")
    func moved() throws {
        var lines = LaneLines(targets: Self.targets, at: Self.start)
        func changes(_ status: LaneStatus, _ counters: Counters = Counters(), after seconds: Int64) -> [String] {
            lines.changes([.fast: status], counters, at: Self.start + .seconds(seconds)).map(\.text)
        }
        #expect(changes(Self.busy, after: 6).count == 1)
        #expect(changes(Self.waiting(1), after: 8) == [])
        var ended = Counters()
        ended.count(
            Counters.Completion(
                Outcome(
                    job: "j", source: nil, url: "http://a.example/", lane: .fast, kind: .failed, variants: [], at: 0)))
        #expect(changes(Self.waiting(1), ended, after: 9) == ["Fast lane back on target after 3 s."])
        // The same, once no job of the lane is parked.
        #expect(changes(Self.busy, ended, after: 10).count == 1)
        #expect(changes(Self.waiting(1), ended, after: 11) == [])
        #expect(changes(Self.idle, ended, after: 12) == ["Fast lane back on target after 2 s."])
    }

    @Test("A lane that has nothing to do says nothing, and a partition that comes brings no jobs that came")
    func quiet() {
        var lines = LaneLines(targets: Self.targets, at: Self.start)
        lines.count([Self.offsets(500)], owned: [])
        lines.count([Self.offsets(500)], owned: [PartitionID(0)])
        #expect(lines.lines([.fast: Self.idle, .slow: Self.idle], Counters(), at: Self.start + 60_000).isEmpty)
        // It went, and comes again: what came meanwhile came to somebody else.
        lines.count([Self.offsets(600)], owned: [])
        lines.count([Self.offsets(700)], owned: [PartitionID(0)])
        #expect(lines.lines([.fast: Self.idle], Counters(), at: Self.start + 120_000).isEmpty)
        #expect(!lines.isDue(at: Self.start + 121_000))
    }
}
