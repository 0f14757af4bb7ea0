import Canonical
import Clocks
import ImageModel
import Ledger
import Partition
import Permits
import Quarantine
import Records
import TestSupport
import Testing

@Suite("Slow fetches at once have a limit of their own", .timeLimit(.minutes(1)))
struct SlowFetchesTests {
    private static func permits(_ limit: Int, slowWait: Duration = 60_000, lateAfter: Duration? = nil)
        -> PermitScheduler
    {
        var rules = PermitRules(fetch: 8, render: 4, slow: 4, slowWait: slowWait)
        (rules.slowFetches, rules.lateAfter) = (limit, lateAfter)
        return PermitScheduler(rules)
    }

    private static func flight(_ number: Int, in partition: Int32 = 0) -> FlightID {
        FlightID(PartitionID(partition), number)
    }

    private static func holders(
        of kind: PermitKind, _ permits: PermitScheduler
    ) -> [(key: FlightID, value: PermitScheduler.Entry)] {
        permits.entries.filter { $0.value.holds.contains(kind) }.sorted { $0.key < $1.key }
    }

    private static func slowFetches(of permits: PermitScheduler) -> Int {
        permits.entries.values.count { $0.holds.contains(.fetch) && !$0.lane.isUrgent }
    }

    /// What could let one more begin.
    enum Way: CaseIterable { case plain, aged, late, machineProbe, logProbe, redirect, fastBeside, alone }

    @Test("With as many slow fetches under way no other begins, by its turn or before it", arguments: Way.allCases)
    func bound(way: Way) {
        var permits = Self.permits(
            2, slowWait: way == .aged ? 1_000 : 60_000, lateAfter: way == .late ? 1_000 : nil)
        for number in 1...6 { permits.request(.fetch, Self.flight(number), lane: .slow, since: WallTime(number)) }
        let first = permits.grants(at: 0).map(\.flight.number)
        #expect(first == [1, 2])
        switch way {
        case .plain, .aged, .late: break
        case .machineProbe: _ = permits.fail(Self.flight(9), at: 0)
        case .logProbe: _ = permits.fail(Self.flight(9), by: .log, at: 0)
        case .redirect:
            permits.release(.fetch, Self.flight(1))
            permits.request(.fetch, Self.flight(1), lane: .slow, since: 1, host: OriginHost(of: "http://b.example/"))
            // One of the two gets the permit; the other waits.
            let next = permits.grants(at: 0).count
            #expect(next == 1)
        case .fastBeside:
            for number in 20...29 { permits.request(.fetch, Self.flight(number), lane: .fast, since: 1) }
            let fast = permits.grants(at: 0).map(\.flight.number)
            #expect(fast == Array(20...25))
        case .alone:
            let request = IsolatedRuns.Request(
                .fetch, Self.flight(30), .slow, since: 0, OriginHost(of: "http://c.example/"))
            _ = permits.apply(.isolate(request, patience: 0), at: Moment(0))
        }
        let more = permits.grants(at: 5_000).filter { $0.flight.number < 20 }.count
        let running = Self.slowFetches(of: permits)
        #expect(more == 0 && running == 2)
    }

    @Test("A slow fetch that turns fast makes room for another")
    func promoted() {
        var permits = Self.permits(1)
        for number in 1...3 { permits.request(.fetch, Self.flight(number), lane: .slow, since: WallTime(number)) }
        let first = permits.grants(at: 0).map(\.flight.number)
        permits.move(Self.flight(1), to: .fast, since: 1)
        let second = permits.grants(at: 0).map(\.flight.number)
        #expect(first == [1] && second == [2])
    }

    @Test("Over 8,000 random steps the limit is kept, and all requests are granted", arguments: [1, 3])
    func random(limit: Int) {
        var numbers = Numbers(state: 5)
        var permits = Self.permits(limit, slowWait: 200, lateAfter: 40)
        var asked = 0
        var granted = 0
        var next = 0
        func host() -> OriginHost { OriginHost(of: "http://\(Int.random(in: 0..<4, using: &numbers)).example/") }
        for time in 0..<8_000 {
            let now = Moment(WallTime(time))
            let isOver = time > 5_000
            if !isOver, Int.random(in: 0..<30, using: &numbers) == 0 {
                next += 1
                let lane: Lane = Int.random(in: 0..<3, using: &numbers) == 0 ? .fast : .slow
                permits.request(
                    .fetch, Self.flight(next, in: Int32(next % 3)), lane: lane, since: now.wall, host: host())
                asked += 1
            }
            for (flight, entry) in Self.holders(of: .fetch, permits) {
                guard Int.random(in: 0..<12, using: &numbers) == 0 else { continue }
                permits.release(.fetch, flight)
                switch Int.random(in: 0..<4, using: &numbers) {
                case 0 where !isOver:
                    permits.request(.fetch, flight, lane: entry.lane, since: entry.since, host: host())
                    asked += 1
                case 1: permits.forget(flight)
                default:
                    permits.request(.render, flight, lane: entry.lane, since: entry.since, host: entry.host)
                    asked += 1
                }
            }
            for (flight, _) in Self.holders(of: .render, permits) {
                if Int.random(in: 0..<8, using: &numbers) == 0 { permits.forget(flight) }
            }
            if !isOver, Int.random(in: 0..<50, using: &numbers) == 0, let flight = permits.entries.keys.min() {
                let fails = Int.random(in: 0..<8, using: &numbers) == 0
                if fails { _ = permits.fail(flight, at: now) } else { _ = permits.pass(flight) }
            }
            if isOver, let flight = permits.entries.keys.min() { _ = permits.pass(flight) }
            granted += permits.grants(at: now).count
            #expect(Self.slowFetches(of: permits) <= limit)
        }
        #expect(granted == asked && permits.isIdle)
    }
}
