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
import Testing
internal import TestSupport
import VariantSpec

@Suite("Controls: jobs that they change", .timeLimit(.minutes(1)))
struct ControlsTests {
    private static let rules = CanonicalRules()

    private static func job(_ id: String, _ url: String = "https://a.example/1.jpg", _ lane: Lane = .slow) throws -> Job {
        try Intake(rules: rules).job(
            url: url, variants: [try rules.spec(of: "10x10.png")], id: id, lane: lane)
    }

    private static func control(
        _ scope: Control.Scope, _ verb: Control.Verb = .cancel, id: String = "c", ends: [Topic: Int64] = [:]
    ) -> Control {
        Control(id: id, verb, scope, ends: ends)
    }

    private static func performer() -> Performer { Performer(PartitionRules(reuse: ReuseRules()), PermitRules(render: 1)) }

    private static func kinds(_ answers: [(record: Record, disposition: Disposition)]) -> [String: OutcomeKind] {
        Dictionary(uniqueKeysWithValues: answers.compactMap { $0.disposition.outcome.map { ($0.job, $0.kind) } })
    }

    @Test("A scope names jobs by all that it states", arguments: [
        (Control.Scope.job("a"), ["a"]), (.job("x"), []),
        (.filter(Control.Filter(host: "a.example")), ["a", "b"]),
        (.filter(Control.Filter(host: "https://a.example")), ["a", "b"]),
        (.filter(Control.Filter(host: "http://a.example")), []),
        (.filter(Control.Filter(host: "a.example", lane: .fast)), ["b"]),
        (.filter(Control.Filter(lane: .slow)), ["a", "c"]),
    ])
    func scopes(scope: Control.Scope, named: [String]) throws {
        let jobs = [
            try Self.job("a"), try Self.job("b", "https://a.example/2.jpg", .fast), try Self.job("c", "https://b.example/1.jpg"),
        ]
        let control = Self.control(scope)
        #expect(jobs.filter(control.names).map(\.id) == named)
    }

    @Test("The worker's own jobs are never named")
    func own() throws {
        let control = Self.control(.filter(Control.Filter(lane: .slow)))
        let own = [try Self.job(Job.staleRefreshPrefix + "1"), try Self.job(Job.changePrefix + "1")]
        #expect(!own.contains(where: control.names))
    }

    @Test("A control covers jobs from before it: by the ends that it states, else by time", arguments: [
        (ends: [Topic.jobsSlow: 5] as [Topic: Int64], offset: Int64(4), at: WallTime(900), covered: true),
        ([.jobsSlow: 5], 5, 100, false), ([.jobsFast: 5], 9, 500, true), ([.jobsFast: 5], 9, 501, false),
        ([:], 9, 500, true), ([:], 0, 501, false),
    ])
    func covers(ends: [Topic: Int64], offset: Int64, at: WallTime, covered: Bool) {
        let record = Record(
            topic: .jobsSlow, partition: PartitionID(0), offset: offset, timestamp: at, key: [], value: [], headers: [])
        let control = Self.control(.job("a"), ends: ends)
        #expect(control.isAfter(JobIdentity(of: record), published: at, appended: 500) == covered)
        var filter = control
        filter.scope = .filter(Control.Filter(before: at))
        #expect(!filter.isAfter(JobIdentity(of: record), published: at, appended: 500))
    }

    @Test("A cancel ends jobs that wait or are fetched; the last one aborts the fetch")
    func cancels() throws {
        var worker = Self.performer()
        worker.publish(try Self.job("a"))
        worker.publish(try Self.job("b"))
        worker.grant()
        #expect(worker.fetches.count == 1)
        for id in ["a", "b"] {
            worker.feed(.controlled(Self.control(.job(id), .cancel, id: id), worker.record(.control)))
        }
        #expect(Self.kinds(worker.answers) == ["a": .cancelled, "b": .cancelled])
        let hasFlights = worker.state.hasFlights
        #expect(!hasFlights)
    }

    @Test(
        "A cancel leaves a fetch that is nearly complete alone, and ends a job that waits for its fetch or render",
        arguments: [(false, false), (true, false), (true, true)])
    func nearlyFetched(isNearly: Bool, isFetched: Bool) throws {
        var worker = Self.performer()
        worker.publish(try Self.job("a"))
        worker.grant()
        let id = try #require(worker.fetches.first?.flight)
        if isNearly { worker.feed(.nearlyFetched(id)) }
        if isFetched { worker.feed(.fetched(id, FetchedPicture([1]))) }
        worker.feed(.controlled(Self.control(.job("a"), .cancel), worker.record(.control)))
        let (isLeft, mayEnd) = (worker.state.has(id), !isNearly || isFetched)
        #expect(isLeft != mayEnd && Self.kinds(worker.answers) == (mayEnd ? ["a": .cancelled] : [:]))
    }

    @Test("A mis-keyed job that a control names is cancelled in its partition; others are published again")
    func misKeyed() throws {
        var worker = Self.performer()
        worker.feed(.controlled(Self.control(.job("a"), ends: [.jobsSlow: 2]), worker.record(.control)))
        for id in ["a", "b"] { worker.feed(.completed(worker.record(.jobsSlow), .rekey(try Self.job(id)))) }
        let rekeyed = worker.answers.compactMap { if case .rekey(let job) = $0.disposition { job.id } else { nil } }
        #expect(Self.kinds(worker.answers) == ["a": .cancelled] && rekeyed == ["b"])
    }

    @Test("A job that is not read yet is cancelled when it comes; a later one is not")
    func unread() throws {
        var worker = Self.performer()
        let control = Self.control(.source(try Self.job("a").source, "https://a.example/1.jpg"), ends: [.jobsSlow: 1])
        worker.feed(.controlled(control, worker.record(.control)))
        worker.publish(try Self.job("a"))
        worker.publish(try Self.job("b"))
        worker.grant()
        #expect(Self.kinds(worker.answers) == ["a": .cancelled])
        #expect(worker.fetches.count == 1)
    }

    private static func passed(_ worker: borrowing Performer) -> [String] {
        worker.state.passedControls.map(\.control.id)
    }

    @Test("A control stands until every earlier record is finished")
    func stands() throws {
        var worker = Self.performer()
        worker.publish(try Self.job("x", "https://b.example/1.jpg"))
        let record = worker.record(.control)
        worker.feed(.controlled(Self.control(.job("a")), record))
        #expect(Self.passed(worker).isEmpty)
        worker.state.bound([RecordPlace(record)], [.jobsSlow: 1])
        #expect(Self.passed(worker).isEmpty)
        worker.feed(.controlled(Self.control(.job("x"), .cancel, id: "d"), worker.record(.control)))
        #expect(Self.passed(worker) == ["c"])
        let outcome = worker.state.endControl(RecordPlace(record), at: 7)
        #expect(outcome.map { "\($0.control) \($0.kind) \($0.jobs)" } == "c unknown 0")
        let left = worker.state.controls.all
        #expect(left.map(\.control.id) == ["d"] && left.map(\.jobs) == [1])
    }

    @Test("A promoted job is asked for before older slow ones, and keeps its lane when it is parked")
    func promotes() throws {
        var worker = Performer(PartitionRules(reuse: ReuseRules()), PermitRules(fetch: 1, render: 1))
        worker.publish(try Self.job("x", "https://b.example/1.jpg"))
        worker.grant()
        worker.publish(try Self.job("y", "https://b.example/2.jpg"))
        worker.publish(try Self.job("a", "https://b.example/3.jpg"))
        worker.feed(.controlled(Self.control(.job("a"), .promote, id: "c"), worker.record(.control)))
        let first = worker.fetches[0].flight
        let refused = FailureNote(code: "fetch.status", message: "m", verdict: .retry)
        worker.feed(.unfetched(first, Unfetched(refused, .failed)))
        worker.permits.forget(first)
        worker.grant()
        #expect(worker.fetches.last?.request.url == "https://b.example/3.jpg")
        let flight = try #require(worker.fetches.last?.flight)
        worker.feed(.unfetched(flight, Unfetched(refused, .failed)))
        let row = try #require(worker.parked.first { $0.pending.job.id == "a" })
        #expect(row.pending.movedTo == .fast && row.parking.worksAs == .fast)
    }

    @Test("Of two controls that contradict, the newer counts; a cancel is final", arguments: [
        ([Control.Verb.promote, .demote], Lane.slow), ([.demote, .promote], .fast), ([.cancel, .promote], nil),
        ([.promote, .cancel], nil),
    ])
    func contradictions(verbs: [Control.Verb], lane: Lane?) throws {
        var controls = Controls()
        let job = try Self.job("a", "https://a.example/1.jpg", .fast)
        for (number, verb) in verbs.enumerated() {
            controls.add(
                Self.control(.job("a"), verb, id: "\(number)"),
                Record(
                    topic: .control, partition: PartitionID(0), offset: Int64(number), timestamp: 500, key: [], value: [],
                    headers: []))
        }
        let record = Record(
            topic: .jobsFast, partition: PartitionID(0), offset: 0, timestamp: 100, key: [], value: [], headers: [])
        let ruling = try #require(controls.ruling(on: job, record, firstSeen: 100))
        #expect(ruling.action == lane.map { .move($0) } ?? .cancel)
    }
}
