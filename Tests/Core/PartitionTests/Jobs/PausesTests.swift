import Canonical
import Clocks
import Failures
internal import Hosts
import ImageModel
internal import Jobs
import Ledger
internal import Partition
import Permits
import Planning
import Ports
import Records
internal import TestSupport
import Testing
import VariantSpec

@Suite("Pauses: jobs that they hold back", .timeLimit(.minutes(1)))
struct PausesTests {
    private static let rules = CanonicalRules()

    private static func job(_ id: String, _ url: String = "https://a.example/1.jpg", _ lane: Lane = .slow) throws -> Job
    {
        try Intake(rules: rules).job(
            url: url, variants: [try rules.spec(of: "10x10.png")], id: id, lane: lane)
    }

    private static func pause(_ scope: Control.Scope, until: WallTime = 1_000, id: String = "p") -> Control {
        Control(id: id, .pause, scope, until: until)
    }

    private static func performer(fetches: Int = 6) -> Performer {
        Performer(PartitionRules(reuse: ReuseRules()), PermitRules(fetch: fetches, render: 1))
    }

    private static let host = Control.Scope.filter(.init(host: "a.example"))
    private static let slow = Control.Scope.filter(.init(lane: .slow))

    @Test(
        "Arrivals of a paused lane or host are parked without an attempt; others start",
        arguments: [
            (Control.Scope.all, ["a", "b", "c"]), (slow, ["a", "c"]), (host, ["a", "b"]),
            (.filter(.init(host: "https://a.example")), ["a", "b"]), (.filter(.init(host: "http://a.example")), []),
        ])
    func arrivals(scope: Control.Scope, held: [String]) throws {
        var worker = Self.performer()
        worker.feed(.controlled(Self.pause(scope), worker.record(.control)))
        worker.publish(try Self.job("a"))
        worker.publish(try Self.job("b", "https://a.example/2.jpg", .fast))
        worker.publish(try Self.job("c", "https://c.example/1.jpg"))
        worker.grant()
        #expect(worker.parked.map(\.pending.job.id) == held && worker.fetches.count == 3 - held.count)
        for row in worker.parked {
            #expect(row.pending.attempts == 0 && row.pending.notBefore == .epoch && row.cause.code == "retry.paused")
        }
    }

    @Test("Queued jobs leave their flights, and a fetch that runs is completed")
    func queued() throws {
        var worker = Self.performer(fetches: 1)
        worker.publish(try Self.job("a"))
        worker.grant()
        worker.publish(try Self.job("b", "https://a.example/2.jpg"))
        worker.publish(try Self.job("c", "https://c.example/1.jpg"))
        worker.feed(.controlled(Self.pause(Self.host), worker.record(.control)))
        #expect(worker.parked.map(\.pending.job.id) == ["b"] && worker.fetches.count == 1)
        let running = worker.state.isAtWork(worker.fetches[0].flight)
        #expect(running)
        worker.permits.forget(worker.fetches[0].flight)
        worker.grant()
        #expect(worker.fetches.last?.request.url == "https://c.example/1.jpg")
    }

    @Test(
        "A redirect to a paused host is not followed, also if the job waited for that host; other pauses let the fetch end",
        arguments: [
            (Control.Scope.filter(.init(host: "t.example")), nil, true),
            (.filter(.init(host: "t.example")), "t.example", true), (.all, nil, false), (slow, "t.example", false),
        ])
    func redirected(scope: Control.Scope, awaited: String?, isHeld: Bool) throws {
        var worker = Self.performer()
        worker.feed(
            .arrived(
                PendingJob(
                    job: try Self.job("a"), record: worker.record(.jobsSlow),
                    awaited: awaited.map { OriginHost(of: "https://\($0)/") })))
        worker.grant()
        worker.feed(.controlled(Self.pause(scope), worker.record(.control)))
        let url = "https://t.example/1.jpg"
        worker.feed(.redirected(worker.fetches[0].flight, Redirect(to: url, at: OriginHost(of: url), hop: 1)))
        worker.grant()
        #expect(worker.parked.map(\.cause.code) == (isHeld ? ["retry.paused"] : []))
        #expect(worker.fetches.count == (isHeld ? 1 : 2))
    }

    @Test("A queued fast job that is demoted to a paused lane is parked; a promoted one runs")
    func moved() throws {
        var worker = Self.performer(fetches: 1)
        worker.publish(try Self.job("x", "https://x.example/1.jpg", .fast))
        worker.grant()
        worker.publish(try Self.job("a", "https://a.example/1.jpg", .fast))
        worker.feed(.controlled(Self.pause(Self.slow), worker.record(.control)))
        #expect(worker.parked.isEmpty)
        worker.feed(.controlled(Control(id: "d", .demote, .job("a")), worker.record(.control)))
        #expect(worker.parked.map(\.parking.worksAs) == [.slow])
    }

    @Test(
        "A paused host or lane has no room for parked jobs, and others keep theirs",
        arguments: [
            (Control.Scope.all, [true, true, true]), (slow, [true, false, true]), (host, [true, true, false]),
        ])
    func room(scope: Control.Scope, held: [Bool]) throws {
        var worker = Self.performer()
        worker.feed(.controlled(Self.pause(scope), worker.record(.control)))
        let (a, c) = (OriginHost(of: "https://a.example/"), OriginHost(of: "https://c.example/"))
        let rooms = [HostLane(a, .slow), HostLane(a, .fast), HostLane(c, .slow)].map { worker.state.room(for: $0) }
        #expect(rooms.map { $0 == 0 } == held)
        worker.now = 1_000
        worker.feed(.tick)
        let left = worker.state.room(for: HostLane(a, .slow))
        #expect(left > 0, "the pause is over")
    }

    @Test("Expired and stored jobs end while they are paused")
    func ends() throws {
        var worker = Self.performer()
        worker.now = 500
        worker.feed(.controlled(Self.pause(.all), worker.record(.control)))
        var job = try Self.job("a")
        job.expires = 400
        worker.publish(job)
        #expect(worker.answers.compactMap { $0.disposition.outcome?.kind } == [.expired])
    }

    @Test(
        "A resume ends the pauses of its scope, and with all every pause",
        arguments: [
            (Control.Scope.all, [], true), (slow, ["host"], true), (host, ["slow"], true),
            (.filter(.init(host: "https://a.example")), ["slow", "host"], false),
            (.filter(.init(lane: .fast)), ["slow", "host"], false),
        ])
    func resume(scope: Control.Scope, left: [String], isApplied: Bool) {
        var pauses = Pauses()
        func record(_ offset: Int64) -> Record {
            Record(
                topic: .control, partition: PartitionID(0), offset: offset, timestamp: 1, key: [], value: [1],
                headers: [])
        }
        let results = [
            pauses.apply(Self.pause(Self.slow, id: "slow"), record(0), at: 1),
            pauses.apply(Self.pause(Self.host, id: "host"), record(1), at: 1),
            pauses.apply(Control(id: "r", .resume, scope), record(2), at: 2),
        ]
        #expect(results == [nil, nil, nil] && pauses.all.map(\.control) == left)
        // A row that was written before is not enough.
        let early = pauses.recorded([])
        #expect(left.isEmpty || early.isEmpty)
        let decided = early + pauses.recorded(pauses.all)
        #expect(
            decided.map(\.control.id) == ["slow", "host", "r"] && decided.map(\.isApplied) == [true, true, isApplied])
        #expect(decided.allSatisfy { $0.record.value == nil })
        let again = pauses.recorded(pauses.all)
        #expect(again.isEmpty)
    }

    @Test("A later pause of the same scope takes the place of the earlier one; one that is over is dropped")
    func replaced() {
        var pauses = Pauses()
        let record = Record(
            topic: .control, partition: PartitionID(0), offset: 0, timestamp: 1, key: [], value: [], headers: [])
        _ = pauses.apply(Self.pause(Self.slow, until: 100, id: "a"), record, at: 1)
        _ = pauses.apply(Self.pause(Self.slow, until: 50, id: "b"), record, at: 1)
        #expect(pauses.all.map(\.control) == ["b"])
        _ = pauses.apply(Self.pause(Self.host, until: 60, id: "c"), record, at: 50)
        #expect(pauses.all.map(\.control) == ["c"])
        _ = pauses.apply(Self.pause(Self.host, until: 60, id: "d"), record, at: 70)
        #expect(pauses.isEmpty)
        let decided = pauses.recorded([])
        #expect(decided.map(\.isApplied) == [true, true, true, false])
    }

    @Test("At most 32 hosts are paused, and a further one is refused; lanes and everything are not")
    func limit() {
        var pauses = Pauses()
        let record = Record(
            topic: .control, partition: PartitionID(0), offset: 0, timestamp: 1, key: [], value: [], headers: [])
        let refusals = (0..<33).map { number in
            pauses.apply(Self.pause(.filter(.init(host: "h\(number).example")), id: "\(number)"), record, at: 1)
        }
        #expect(refusals.dropLast().allSatisfy { $0 == nil } && refusals.last??.code == "control.invalid")
        let same = pauses.apply(Self.pause(.filter(.init(host: "h3.example")), id: "again"), record, at: 1)
        #expect(same == nil && pauses.all.count == 32)
        let all = pauses.apply(Self.pause(.all, id: "all"), record, at: 1)
        #expect(all == nil && pauses.all.count == 33)
    }

    @Test("A pause that an owner takes over, and reads once more, is applied")
    func again() {
        var pauses = Pauses()
        let record = Record(
            topic: .control, partition: PartitionID(0), offset: 0, timestamp: 1, key: [], value: [], headers: [])
        let control = Self.pause(.all, id: "p")
        _ = pauses.apply(control, record, at: 1)
        let row = pauses.all
        var next = Pauses()
        next.takeOver(row)
        _ = next.apply(control, record, at: 2)
        let decided = next.recorded(row)
        #expect(next.all == row && decided.map(\.isApplied) == [true])
    }

    @Test("A new owner takes the pauses over; an id that returns with another record is refused")
    func takeOver() throws {
        var worker = Self.performer()
        let left = [Pause("p", .host("a.example"), since: 1, until: 1_000)]
        worker.state.takeOver(ProgressRow(partition: PartitionID(0), topics: [:], pauses: left, at: 1), isOwn: false)
        worker.publish(try Self.job("a"))
        #expect(worker.parked.count == 1)
        worker.feed(.controlled(Self.pause(Self.slow), worker.record(.control)))
        worker.feed(.controlled(Self.pause(.all), worker.record(.control)))
        let standing = worker.state.pauses.all
        #expect(standing.map(\.scope) == [.host("a.example"), .lane(.slow)])
        #expect(
            worker.answers.contains {
                if case .control(let outcome) = $0.disposition {
                    outcome.failure?.code == "control.replayed"
                } else {
                    false
                }
            })
    }
}
