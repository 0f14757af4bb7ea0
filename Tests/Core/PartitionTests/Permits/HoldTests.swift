import Clocks
import ImageModel
import Jobs
import Ledger
import Partition
import Permits
import Records
import TestSupport
import Testing

@Suite("Permits while one partition's log takes nothing", .timeLimit(.minutes(1)))
struct HoldTests {
    private func flight(_ number: Int, _ partition: Int32) -> FlightID { FlightID(PartitionID(partition), number) }

    private func numbers(_ scheduler: inout PermitScheduler, at now: Moment = 0) -> [Int] {
        scheduler.grants(at: now).map(\.flight.number)
    }

    private func expect<Value: Equatable>(
        _ granted: Value, _ wanted: Value, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(granted == wanted, sourceLocation: sourceLocation)
    }

    /// Fetches and renders it, and brings its rows on their way.
    private func announce(_ flight: FlightID, _ permits: inout PermitScheduler) {
        permits.request(.render, flight, lane: .fast, since: 0)
        expect(numbers(&permits).contains(flight.number), true)
        permits.release(.render, flight)
        permits.announce(flight)
    }

    @Test("After a failure of a partition's log probes alone go on there, and all others as if nothing were")
    func held() {
        var permits = PermitScheduler(PermitRules(fetch: 8, render: 4))
        for i in 1...6 { permits.request(.fetch, flight(i, Int32(i % 2)), lane: .fast, since: WallTime(i)) }
        expect(numbers(&permits), [1, 2, 3, 4, 5, 6])
        expect(permits.fail(flight(1, 1), by: .log, at: 0), true)
        permits.forget(flight(1, 1))
        expect(permits.fail(flight(3, 1), by: .log, at: 10), false)
        permits.forget(flight(3, 1))
        for i in 7...10 { permits.request(.fetch, flight(i, Int32(i % 2)), lane: .fast, since: WallTime(i)) }
        expect(numbers(&permits, at: 1_000), [8, 10])
        // A probe has all its permits; others of the partition wait, though they were fetched.
        expect(numbers(&permits, at: 2_000), [7])
        for (i, kind) in [(5, PermitKind.fetch), (7, .fetch)] { permits.release(kind, flight(i, 1)) }
        for i in [5, 7] { permits.request(.render, flight(i, 1), lane: .fast, since: WallTime(i)) }
        expect(numbers(&permits, at: 2_001), [7])
        expect(permits.fail(flight(7, 1), by: .log, at: 3_000), false)
        permits.forget(flight(7, 1))
        expect(numbers(&permits, at: 3_999), [])
        expect(numbers(&permits, at: 4_000), [5])
        // Another partition's says nothing of this one.
        expect(permits.pass(flight(8, 0)), [])
        expect(permits.pass(flight(5, 1)), [.log])
        expect(numbers(&permits, at: 4_001), [9])
    }

    @Test("What a held partition fetched and cannot render keeps no other partition from fetching")
    func readyElsewhere() {
        var permits = PermitScheduler(PermitRules(fetch: 4, render: 1))
        permits.request(.render, flight(9, 0), lane: .fast, since: 0)
        expect(numbers(&permits), [9])
        for i in 1...4 { permits.request(.fetch, flight(i, 1), lane: .fast, since: WallTime(i)) }
        expect(numbers(&permits), [1, 2, 3, 4])
        for i in 1...4 {
            permits.release(.fetch, flight(i, 1))
            permits.request(.render, flight(i, 1), lane: .fast, since: WallTime(i))
        }
        permits.request(.fetch, flight(5, 0), lane: .fast, since: 5)
        expect(numbers(&permits), [])
        expect(permits.fail(flight(8, 1), by: .log, at: 0), true)
        expect(numbers(&permits), [5])
    }

    @Test("A probe that ends by its own fault is followed at once; one of a partition that went is forgotten with it")
    func probes() {
        var permits = PermitScheduler(PermitRules(fetch: 4, render: 1))
        expect(permits.fail(flight(9, 0), by: .log, at: 0), true)
        for i in 1...3 { permits.request(.fetch, flight(i, 0), lane: .fast, since: WallTime(i)) }
        expect(numbers(&permits, at: 1_999), [])
        expect(numbers(&permits, at: 2_000), [1])
        permits.forget(flight(1, 0))
        expect(numbers(&permits, at: 2_001), [2])
        expect(permits.closeLog(of: PartitionID(0)), true)
        expect(numbers(&permits, at: 2_002), [3])
        expect(permits.closeLog(of: PartitionID(0)), false)
    }

    @Test(
        "A held partition's probes go on while fast flights of others take each permit, and while no flight of theirs waits"
    )
    func saturated() {
        var permits = PermitScheduler(PermitRules(fetch: 2, render: 1))
        for i in 1...9 { permits.request(.fetch, flight(i, 0), lane: .fast, since: WallTime(i)) }
        permits.request(.fetch, flight(10, 1), lane: .slow, since: 20)
        expect(numbers(&permits), [1, 2])
        expect(permits.fail(flight(11, 1), by: .log, at: 0), true)
        permits.forget(flight(1, 0))
        expect(numbers(&permits, at: 2_000), [10])
        permits.forget(flight(2, 0))
        expect(numbers(&permits, at: 2_001), [3])
    }

    @Test("With sixteen flights on their way to its log a partition gets no permit until half of them are there")
    func congested() {
        var rules = PermitRules(fetch: 4, render: 4)
        rules.announcing = 16
        var permits = PermitScheduler(rules)
        for i in 1...15 { announce(flight(i, 0), &permits) }
        permits.request(.fetch, flight(20, 0), lane: .fast, since: 1)
        expect(numbers(&permits), [20])
        announce(flight(16, 0), &permits)
        for i in 21...22 { permits.request(.fetch, flight(i, 0), lane: .fast, since: 2) }
        for i in 30...31 { permits.request(.fetch, flight(i, 1), lane: .fast, since: 3) }
        expect(numbers(&permits), [30, 31])
        for i in 1...7 { expect(permits.pass(flight(i, 0)), []) }
        expect(numbers(&permits), [])
        // In each way that one may end.
        permits.forget(flight(8, 0))
        expect(numbers(&permits), [21])
        #expect(permits.announcements == 8)
    }

    @Test("While the machine is halted, its probes are of partitions that are not held, if any flight waits there")
    func halted() {
        var permits = PermitScheduler(PermitRules(fetch: 8, render: 1))
        expect(permits.fail(flight(9, 0), by: .log, at: 0), true)
        expect(permits.fail(flight(8, 1), at: 0), true)
        permits.request(.render, flight(1, 0), lane: .fast, since: 1)
        permits.request(.fetch, flight(2, 1), lane: .fast, since: 2)
        expect(numbers(&permits, at: 2_000), [2])
        // None of the others waits now.
        expect(numbers(&permits, at: 4_000), [1])
        expect(permits.pass(flight(1, 0)), [.machine, .log])
    }

    @Test("A worker that is told to stop lets a held partition's flights try to end")
    func draining() {
        var permits = PermitScheduler(PermitRules(fetch: 2, render: 1))
        for i in 1...3 { permits.request(.fetch, flight(i, 0), lane: .fast, since: WallTime(i)) }
        expect(numbers(&permits), [1, 2])
        expect(permits.fail(flight(9, 0), by: .log, at: 0), true)
        permits.release(.fetch, flight(1, 0))
        permits.request(.render, flight(1, 0), lane: .fast, since: 1)
        expect(numbers(&permits), [])
        permits.drain()
        expect(numbers(&permits), [1])
    }

    @Test("An aged slow flight that hangs in a held partition keeps no younger one of another from its turn")
    func aged() {
        var permits = PermitScheduler(PermitRules(fetch: 4, render: 1, slowWait: 1_000))
        for i in 10...20 { permits.request(.fetch, flight(i, 1), lane: .fast, since: 0) }
        permits.request(.fetch, flight(1, 0), lane: .slow, since: 0)
        permits.request(.fetch, flight(2, 1), lane: .slow, since: 1)
        expect(numbers(&permits, at: 2_000), [1, 10, 11, 12])
        permits.forget(flight(10, 1))
        expect(numbers(&permits, at: 2_000), [13])
        expect(permits.fail(flight(9, 0), by: .log, at: 2_000), true)
        permits.forget(flight(11, 1))
        expect(numbers(&permits, at: 2_000), [2])
    }
}
