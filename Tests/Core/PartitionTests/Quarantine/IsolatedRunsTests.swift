import Canonical
import Clocks
import Hosts
import ImageModel
import Jobs
import Ledger
import Partition
import Permits
import Quarantine
import Records
import TestSupport
import Testing

@Suite("Solitude: one flight at a time runs alone", .timeLimit(.minutes(1)))
struct IsolatedRunsTests {
    private let a = FlightID(PartitionID(0), 1)
    private let b = FlightID(PartitionID(1), 2)

    private func closed(_ flights: FlightID...) -> IsolatedRuns {
        var isolatedRuns = IsolatedRuns()
        for flight in flights {
            let host = OriginHost(of: "http://a.example/")
            isolatedRuns.add(IsolatedRuns.Request(.fetch, flight, .fast, since: 1, host), due: 5_000)
        }
        var next = isolatedRuns.step(at: 4_999, isUnderWay: true, isIdle: false)?.flight
        #expect(next == nil)
        #expect(!isolatedRuns.isClosed)
        next = isolatedRuns.step(at: 5_000, isUnderWay: true, isIdle: false)?.flight
        #expect(next == nil)
        #expect(isolatedRuns.isClosed)
        return isolatedRuns
    }

    @Test(
        "Its wait over, a suspect waits for what is under way, and nothing begins beside it or before its row is replaced"
    )
    func turn() {
        var isolatedRuns = closed(a, b)
        var next = isolatedRuns.step(at: 5_100, isUnderWay: false, isIdle: false)?.flight
        #expect(next == a)
        #expect(isolatedRuns.flight == a && isolatedRuns.isClosed)
        next = isolatedRuns.step(at: 5_150, isUnderWay: true, isIdle: false)?.flight
        #expect(next == nil)
        isolatedRuns.end(a)
        #expect(isolatedRuns.flight == nil && isolatedRuns.ended == a && isolatedRuns.isClosed)
        next = isolatedRuns.step(at: 5_210, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        isolatedRuns.cleared(at: 5_220)
        // The next goes at once, while others have not waited for a second.
        next = isolatedRuns.step(at: 5_220, isUnderWay: false, isIdle: false)?.flight
        #expect(next == b)
        isolatedRuns.end(b)
        isolatedRuns.cleared(at: 5_310)
        #expect(!isolatedRuns.isClosed)
    }

    @Test(
        "A suspect that joins the flight whose turn it is asks for nothing twice, though that is not told of its permit"
    )
    func joined() {
        var scheduler = PermitScheduler(PermitRules(fetch: 2, render: 2))
        let host = OriginHost(of: "http://a.example/")
        let alone = PermitChange.isolate(IsolatedRuns.Request(.fetch, a, .fast, since: 1, host), patience: 0)
        let now = Moment(wall: 1, monotonic: 1)
        _ = scheduler.apply(alone, at: now)
        #expect(scheduler.grants(at: now).map(\.flight) == [a])
        _ = scheduler.apply(alone, at: now)
        #expect(scheduler.grants(at: now).isEmpty)
        _ = scheduler.apply(.release(.fetch, a), at: now)
        _ = scheduler.apply(.request(.render, a, .fast, since: 1, host, behind: nil), at: now)
        #expect(scheduler.grants(at: now).map(\.kind) == [.render])
    }

    @Test("A suspect waits for what runs, and not for flights that redirects led to a host whose turn they wait for")
    func redirected() {
        var scheduler = PermitScheduler(
            PermitRules(fetch: 8, render: 2, origins: OriginRules(concurrency: 1)))
        let now = Moment(wall: 1, monotonic: 1)
        let (front, target) = (OriginHost(of: "http://front.example/"), OriginHost(of: "http://target.example/"))
        let quarantinedJob = FlightID(PartitionID(0), 3)
        for (flight, host) in [(a, front), (b, target)] {
            scheduler.request(.fetch, flight, lane: .fast, since: 1, host: host)
        }
        #expect(scheduler.grants(at: now).count == 2)
        scheduler.release(.fetch, a)
        scheduler.request(.fetch, a, lane: .fast, since: 1, host: target)
        let request = IsolatedRuns.Request(.fetch, quarantinedJob, .fast, since: 1, OriginHost(of: "http://c.example/"))
        _ = scheduler.apply(.isolate(request, patience: 0), at: now)
        #expect(scheduler.grants(at: now).isEmpty)
        scheduler.forget(b)
        #expect(scheduler.grants(at: now).map(\.flight) == [quarantinedJob])
    }

    @Test("Suspects have a tenth of the time where others wait, and all of it where none does")
    func share() {
        var isolatedRuns = closed(a, b)
        var next = isolatedRuns.step(at: 5_000, isUnderWay: false, isIdle: false)?.flight
        #expect(next == a)
        isolatedRuns.end(a)
        isolatedRuns.cleared(at: 7_000)
        #expect(!isolatedRuns.isClosed)
        next = isolatedRuns.step(at: 24_999, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        var idle = isolatedRuns
        next = idle.step(at: 7_001, isUnderWay: false, isIdle: true)?.flight
        #expect(next == b)
        next = isolatedRuns.step(at: 25_000, isUnderWay: false, isIdle: false)?.flight
        #expect(next == b)
    }

    @Test("A suspect that is given up holds nobody, before its turn or in it; nor does a log that takes no row")
    func givenUp() {
        var isolatedRuns = closed(a)
        isolatedRuns.end(a)
        var next = isolatedRuns.step(at: 5_002, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        #expect(!isolatedRuns.isClosed)
        isolatedRuns = closed(a)
        next = isolatedRuns.step(at: 5_000, isUnderWay: false, isIdle: false)?.flight
        #expect(next == a)
        isolatedRuns.end(a)
        next = isolatedRuns.step(at: 5_000, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        next = isolatedRuns.step(at: 6_999, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        #expect(isolatedRuns.isClosed)
        next = isolatedRuns.step(at: 7_000, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        #expect(!isolatedRuns.isClosed)
    }
}
