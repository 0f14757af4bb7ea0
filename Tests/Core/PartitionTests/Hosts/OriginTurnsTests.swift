import Canonical
import Clocks
import Hosts
import ImageModel
import Jobs
import Ledger
import Partition
import Permits
import Records
import TestSupport
import Testing

@Suite("Permits: hosts take turns, and those that fail hold none", .timeLimit(.minutes(1)))
struct OriginTurnsTests {
    private func flight(_ number: Int, _ partition: Int32 = 0) -> FlightID { FlightID(PartitionID(partition), number) }
    private func host(_ number: Int) -> OriginHost { OriginHost(of: "http://h\(number).example/") }

    private func rules(_ concurrency: Int = 6, fetch: Int = 32) -> PermitRules {
        PermitRules(fetch: fetch, render: 8, slowWait: 1_000, origins: OriginRules(concurrency: concurrency))
    }

    private func numbers(_ permits: inout PermitScheduler, at now: Moment = 0) -> [Int] {
        permits.grants(at: now).map(\.flight.number)
    }

    /// The fetch ended well, and its flight with it.
    private func end(_ permits: inout PermitScheduler, _ flight: FlightID, _ answer: OriginResponse, at now: Moment = 0)
    {
        _ = permits.apply(.hear(answer, flight, code: "x"), at: now)
        permits.forget(flight)
    }

    @Test("Of many flights of one host and a few of others, each host has its turn")
    func turns() {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 1))
        for number in 0..<100 { permits.request(.fetch, flight(number), lane: .fast, since: 0, host: host(0)) }
        for number in 100..<104 {
            permits.request(.fetch, flight(number), lane: .fast, since: 5, host: host(number / 102))
        }
        var order: [Int] = []
        while order.count < 8, let next = numbers(&permits).first {
            order.append(next)
            permits.forget(flight(next))
        }
        // Hosts 0 (of 100 and 101, behind its own) and 1.
        #expect(order == [0, 102, 1, 103, 2, 3, 4, 5])
    }

    @Test("A host that comes late is next, and has no more than its turns")
    func late() {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 1))
        for number in 0..<50 {
            permits.request(
                .fetch, flight(number, Int32(number % 4)), lane: .fast, since: WallTime(number), host: host(0))
        }
        for number in 0..<20 {
            #expect(numbers(&permits) == [number])
            permits.forget(flight(number, Int32(number % 4)))
        }
        for number in 50..<60 { permits.request(.fetch, flight(number), lane: .fast, since: 90, host: host(1)) }
        var late: [Int] = []
        for place in 0..<12 {
            guard let next = permits.grants(at: 0).first?.flight else { break }
            if next.number >= 50 { late.append(place) }
            permits.forget(next)
        }
        #expect(late.count == 6 && late[0] <= 1)
    }

    @Test("Fetches of a host never pass its limit, which grows as it answers")
    func limit() {
        var permits = PermitScheduler(rules())
        for number in 0..<100 {
            permits.request(.fetch, flight(number), lane: .fast, since: WallTime(number), host: host(0))
        }
        var running = permits.grants(at: 0).map(\.flight)
        #expect(running.count == 2)
        for _ in 0..<60 {
            end(&permits, running.removeFirst(), .responded(bytes: 1))
            running += permits.grants(at: 0).map(\.flight)
        }
        #expect(running.count == 6 && permits.origins[host(0)]?.limit == 6)
    }

    @Test("Flights that wait for a host which is left alone are told so; one goes as a probe when it is time")
    func blocked() {
        var permits = PermitScheduler(rules())
        for number in 0..<12 {
            permits.request(.fetch, flight(number), lane: .fast, since: WallTime(number), host: host(0))
        }
        permits.request(.fetch, flight(99), lane: .fast, since: 50, host: host(1))
        #expect(Set(numbers(&permits)) == [0, 1, 99])
        end(&permits, flight(0), .refused(after: 10_000, mayBeOfURL: false), at: 5)
        let held = permits.takeHeld(at: Moment(1_000))
        #expect(held.map(\.flight.number).sorted() == Array(2..<12))
        #expect(held.allSatisfy { $0.hold.host == host(0) && $0.hold.wait == 9_005 && $0.hold.code == "x" })
        for (flight, _) in held { permits.forget(flight) }
        // What comes now waits elsewhere, too, and as long as it was left alone, or will be.
        permits.request(.fetch, flight(20), lane: .slow, since: 60, host: host(0))
        #expect(numbers(&permits, at: 2_000).isEmpty)
        #expect(permits.takeHeld(at: Moment(9_000)).map(\.hold.wait) == [8_995])
        permits.forget(flight(20))
        #expect(permits.use(of: host(0), at: Moment(10_000)) == 0 && permits.use(of: host(0), at: Moment(10_005)) == 1)
        for number in 30..<33 { permits.request(.fetch, flight(number), lane: .slow, since: 70, host: host(0)) }
        #expect(numbers(&permits, at: 10_005) == [30])
        let others = permits.takeHeld(at: Moment(10_006))
        #expect(others.map(\.flight.number).sorted() == [31, 32])
        for (flight, _) in others { permits.forget(flight) }
        end(&permits, flight(30), .responded(bytes: 1), at: 10_100)
        for number in 40..<43 { permits.request(.fetch, flight(number), lane: .fast, since: 80, host: host(0)) }
        // One of the first two is under way still.
        #expect(permits.takeHeld(at: Moment(10_100)).isEmpty)
        #expect(permits.origins[host(0)]?.phase == .open && numbers(&permits, at: 10_100).count <= 1)
    }

    @Test("An aged slow flight gets its permit among fast ones of its own host, and of others", arguments: [0, 1])
    func aged(other: Int) {
        var permits = PermitScheduler(rules(2, fetch: 4))
        for number in 0..<40 {
            permits.request(.fetch, flight(number), lane: .fast, since: 0, host: host(number % 2 * other))
        }
        var running = permits.grants(at: 0).map(\.flight)
        permits.request(.fetch, flight(100), lane: .slow, since: 0, host: host(0))
        for now in (1_000..<1_010).map({ Moment(Instant($0)) }) where !running.contains(flight(100)) {
            end(&permits, running.removeFirst(), .responded(bytes: 1), at: now)
            running += permits.grants(at: now).map(\.flight)
        }
        #expect(running.contains(flight(100)))
    }

    @Test("At a host that bears one fetch at once, aged slow flights and fast ones take turns")
    func agedTurns() {
        var permits = PermitScheduler(rules(1))
        for number in 0..<3 {
            permits.request(.fetch, flight(number), lane: .fast, since: 0, host: host(0))
            permits.request(.fetch, flight(10 + number), lane: .slow, since: 0, host: host(0))
        }
        var order: [Int] = []
        while let next = numbers(&permits, at: 2_000).first {
            order.append(next)
            end(&permits, flight(next), .responded(bytes: 1), at: 2_000)
        }
        #expect(order == [10, 0, 11, 1, 12, 2])
    }

    @Test("Jobs that come for a host which is left alone, and go to wait elsewhere, leave nothing behind")
    func passing() {
        var permits = PermitScheduler(rules())
        permits.set(host(0), blockedFor: 60_000, because: "x", at: Moment(0))
        for number in 0..<10_000 {
            permits.request(.fetch, flight(number, Int32(number % 8)), lane: .fast, since: 0, host: host(0))
            _ = numbers(&permits)
            for (flight, _) in permits.takeHeld(at: Moment(0)) { permits.forget(flight) }
        }
        #expect(permits.ticketsHeld <= 3 * 8)
        permits.request(.fetch, flight(20_000), lane: .fast, since: 0, host: host(0))
        #expect(numbers(&permits, at: 59_999).isEmpty && numbers(&permits, at: 60_000) == [20_000])
    }

    @Test("Nor do those that come and go while all permits are taken and nobody looks who is next")
    func unmet() {
        var permits = PermitScheduler(rules(fetch: 2))
        for number in 0..<2 { permits.request(.fetch, flight(number), lane: .fast, since: 0, host: host(number)) }
        #expect(numbers(&permits).count == 2)
        for number in 2..<10_000 {
            let lane: Lane = number.isMultiple(of: 2) ? .fast : .slow
            permits.request(.fetch, flight(number), lane: lane, since: 0, host: host(2))
            _ = numbers(&permits)
            permits.forget(flight(number))
        }
        // As many as each of two queues has before it lets go of them.
        #expect(permits.ticketsHeld <= 2 * 2 * 257)
    }

    @Test("However many hosts fail, few are known: those that may be asked soonest are forgotten")
    func bounded() {
        var rules = rules()
        rules.origins.failures = 1
        var permits = PermitScheduler(rules)
        let blocked = host(-1)
        permits.set(blocked, blockedFor: 1_000_000, because: "x", at: Moment(0))
        for number in 0..<20_000 {
            permits.request(.fetch, flight(number), lane: .fast, since: 0, host: host(number))
            #expect(numbers(&permits) == [number])
            end(&permits, flight(number), .failed)
            #expect(permits.takeHeld(at: Moment(0)).isEmpty)
        }
        #expect(permits.origins.count <= PermitScheduler.keptOrigins && permits.origins[blocked]?.phase != .open)
    }

    @Test("A flight that waited says what of its host held it back, and one that did not says nothing")
    func holds() {
        var rules = rules(2)
        rules.origins.limits["http://h1.example"] = .init(rate: 1)
        var permits = PermitScheduler(rules)
        func ask(_ numbers: Range<Int>, _ name: Int, at now: Moment) -> [HostHold?] {
            for number in numbers {
                permits.request(.fetch, flight(number), lane: .fast, since: now.wall, host: host(name))
            }
            let granted = permits.grants(at: now).map(\.flight)
            return granted.map { permits.entries[$0]?.throttledBy }
        }
        #expect(ask(0..<4, 0, at: 0) == [nil, nil])
        permits.forget(flight(0))
        #expect(ask(0..<0, 0, at: 10) == [.limit])
        #expect(ask(10..<12, 1, at: 1_000) == [nil])
        permits.forget(flight(10))
        #expect(ask(0..<0, 1, at: 2_000) == [.rate])
        permits.set(host(2), blockedFor: 500, because: "x", at: Moment(3_000))
        #expect(ask(20..<21, 2, at: 3_000) == [])
        #expect(ask(0..<0, 2, at: 3_500) == [.breaker])
    }

    @Test("A flight that waited until the worker knew its slots was held by no limit of its host")
    func unknownSlots() {
        var permits = PermitScheduler(rules())
        permits.own([PartitionID(0)], of: 1)
        permits.request(.fetch, flight(1), lane: .fast, since: 0, host: host(0))
        #expect(permits.grants(at: 0).isEmpty)
        #expect(permits.holding(host(0), isSlow: false, at: 0) == nil)
        permits.knowSlots()
        #expect(numbers(&permits, at: 10) == [1] && permits.entries[flight(1)]?.throttledBy == nil)
    }

    @Test("A host with a rate is asked at that rate, though permits are free")
    func rate() {
        var rules = rules(50)
        rules.origins.limits["http://h0.example"] = .init(concurrency: 50, rate: 20)
        var permits = PermitScheduler(rules)
        for number in 0..<100 { permits.request(.fetch, flight(number), lane: .fast, since: 0, host: host(0)) }
        var count = 0
        for now in stride(from: 0, to: 2_000, by: 50).map({ Moment(Instant($0)) }) {
            let granted = permits.grants(at: now).map(\.flight)
            count += granted.count
            for flight in granted { end(&permits, flight, .responded(bytes: 1), at: now) }
        }
        #expect((38...42).contains(count))
    }

    @Test("Jobs of a host that hangs keep those of another waiting for nothing, however many there are")
    func flood() {
        var permits = PermitScheduler(rules())
        for number in 0..<20_000 { permits.request(.fetch, flight(number), lane: .fast, since: 0, host: host(0)) }
        #expect(permits.grants(at: 0).count == 2)
        for number in 20_000..<20_100 {
            permits.request(.fetch, flight(number), lane: .fast, since: 9, host: host(1))
            #expect(numbers(&permits, at: 9) == [number])
            end(&permits, flight(number), .responded(bytes: 1), at: 9)
        }
    }
}
