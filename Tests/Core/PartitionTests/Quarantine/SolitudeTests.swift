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
struct SolitudeTests {
    private let a = FlightID(PartitionID(0), 1)
    private let b = FlightID(PartitionID(1), 2)

    private func closed(_ flights: FlightID...) -> Solitude {
        var solitude = Solitude()
        for flight in flights {
            let host = OriginHost(of: "http://a.example/")
            solitude.add(Solitude.Request(.fetch, flight, .fast, since: 1, host), due: 5_000)
        }
        var next = solitude.step(at: 4_999, isUnderWay: true, isIdle: false)?.flight
        #expect(next == nil)
        #expect(!solitude.isClosed)
        next = solitude.step(at: 5_000, isUnderWay: true, isIdle: false)?.flight
        #expect(next == nil)
        #expect(solitude.isClosed)
        return solitude
    }

    @Test(
        "Its wait over, a suspect waits for what is under way, and nothing begins beside it or before its row is replaced"
    )
    func turn() {
        var solitude = closed(a, b)
        var next = solitude.step(at: 5_100, isUnderWay: false, isIdle: false)?.flight
        #expect(next == a)
        #expect(solitude.flight == a && solitude.isClosed)
        next = solitude.step(at: 5_150, isUnderWay: true, isIdle: false)?.flight
        #expect(next == nil)
        solitude.end(a)
        #expect(solitude.flight == nil && solitude.ended == a && solitude.isClosed)
        next = solitude.step(at: 5_210, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        solitude.cleared(at: 5_220)
        // The next goes at once, while others have not waited for a second.
        next = solitude.step(at: 5_220, isUnderWay: false, isIdle: false)?.flight
        #expect(next == b)
        solitude.end(b)
        solitude.cleared(at: 5_310)
        #expect(!solitude.isClosed)
    }

    @Test(
        "A suspect that joins the flight whose turn it is asks for nothing twice, though that is not told of its permit"
    )
    func joined() {
        var scheduler = PermitScheduler(PermitRules(fetch: 2, render: 2))
        let host = OriginHost(of: "http://a.example/")
        let alone = PermitChange.isolate(Solitude.Request(.fetch, a, .fast, since: 1, host), patience: 0)
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
        let request = Solitude.Request(.fetch, quarantinedJob, .fast, since: 1, OriginHost(of: "http://c.example/"))
        _ = scheduler.apply(.isolate(request, patience: 0), at: now)
        #expect(scheduler.grants(at: now).isEmpty)
        scheduler.forget(b)
        #expect(scheduler.grants(at: now).map(\.flight) == [quarantinedJob])
    }

    @Test("Suspects have a tenth of the time where others wait, and all of it where none does")
    func share() {
        var solitude = closed(a, b)
        var next = solitude.step(at: 5_000, isUnderWay: false, isIdle: false)?.flight
        #expect(next == a)
        solitude.end(a)
        solitude.cleared(at: 7_000)
        #expect(!solitude.isClosed)
        next = solitude.step(at: 24_999, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        var idle = solitude
        next = idle.step(at: 7_001, isUnderWay: false, isIdle: true)?.flight
        #expect(next == b)
        next = solitude.step(at: 25_000, isUnderWay: false, isIdle: false)?.flight
        #expect(next == b)
    }

    @Test("A suspect that is given up holds nobody, before its turn or in it; nor does a log that takes no row")
    func givenUp() {
        var solitude = closed(a)
        solitude.end(a)
        var next = solitude.step(at: 5_002, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        #expect(!solitude.isClosed)
        solitude = closed(a)
        next = solitude.step(at: 5_000, isUnderWay: false, isIdle: false)?.flight
        #expect(next == a)
        solitude.end(a)
        next = solitude.step(at: 5_000, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        next = solitude.step(at: 6_999, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        #expect(solitude.isClosed)
        next = solitude.step(at: 7_000, isUnderWay: false, isIdle: false)?.flight
        #expect(next == nil)
        #expect(!solitude.isClosed)
    }
}
