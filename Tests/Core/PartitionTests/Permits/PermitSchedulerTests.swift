import Canonical
import Clocks
import ImageModel
import Ledger
import Partition
import Permits
import Records
import TestSupport
import Testing

@Suite("Permits: who may fetch or render next", .timeLimit(.minutes(1)))
struct PermitSchedulerTests {
    private func flight(_ number: Int) -> FlightID { FlightID(PartitionID(0), number) }

    private func numbers(_ scheduler: inout PermitScheduler, at now: Moment = 0) -> [Int] {
        scheduler.grants(at: now).map(\.flight.number)
    }

    private func expect<Value: Equatable>(
        _ granted: Value, _ wanted: Value, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(granted == wanted, sourceLocation: sourceLocation)
    }

    @Test("Fast flights go in the order their jobs came, whichever partition asked first")
    func order() {
        var permits = PermitScheduler(PermitRules(fetch: 2, render: 1))
        permits.request(.fetch, flight(1), lane: .fast, since: 30)
        permits.request(.fetch, flight(2), lane: .fast, since: 10)
        permits.request(.fetch, flight(3), lane: .fast, since: 20)
        expect(numbers(&permits), [2, 3])
        permits.release(.fetch, flight(2))
        expect(numbers(&permits), [1])
    }

    @Test("Fetch permits are apart from render permits")
    func apart() {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 1))
        permits.request(.fetch, flight(1), lane: .fast, since: 1)
        permits.request(.render, flight(2), lane: .fast, since: 2)
        let granted = numbers(&permits)
        #expect(Set(granted) == [1, 2])
    }

    @Test("Sources that were fetched and wait for their renders count as fetches, so that they do not pile up")
    func pile() {
        var permits = PermitScheduler(PermitRules(fetch: 3, render: 1))
        for i in 1...9 { permits.request(.fetch, flight(i), lane: .fast, since: WallTime(i)) }
        expect(numbers(&permits), [1, 2, 3])
        for i in 1...3 {
            permits.release(.fetch, flight(i))
            permits.request(.render, flight(i), lane: .fast, since: WallTime(i))
        }
        // A render for the first; two wait for theirs.
        expect(numbers(&permits), [1, 4])
        expect(numbers(&permits), [])
        permits.release(.render, flight(1))
        expect(numbers(&permits), [2, 5])
        // One that is given up while it waits counts no more.
        permits.forget(flight(3))
        expect(numbers(&permits), [6])
    }

    @Test("Slow flights that wait for their renders keep no fetch from a fast one")
    func slowPile() {
        var permits = PermitScheduler(PermitRules(fetch: 2, render: 1, slow: 2))
        for i in 1...2 { permits.request(.fetch, flight(i), lane: .slow, since: 1) }
        expect(numbers(&permits), [1, 2])
        permits.request(.render, flight(3), lane: .fast, since: 1)
        for i in 1...2 {
            permits.release(.fetch, flight(i))
            permits.request(.render, flight(i), lane: .slow, since: 1)
        }
        expect(numbers(&permits), [3])
        permits.request(.fetch, flight(4), lane: .fast, since: 2)
        expect(numbers(&permits), [4])
        // One that turns fast counts as one.
        permits.move(flight(1), to: .fast, since: 1)
        permits.request(.fetch, flight(5), lane: .fast, since: 3)
        expect(numbers(&permits), [])
        permits.release(.fetch, flight(4))
        expect(numbers(&permits), [5])
    }

    @Test(
        "Slow flights render as many at once as the rules say, and are fetched as fast ones leave permits",
        arguments: [1, 2, 3])
    func slow(limit: Int) {
        var permits = PermitScheduler(PermitRules(fetch: 8, render: 4, slow: limit))
        for i in 1...8 { permits.request(.fetch, flight(i), lane: .slow, since: WallTime(i)) }
        // A quarter is left to fast ones that come.
        expect(numbers(&permits), [1, 2, 3, 4, 5, 6])
        for i in 1...4 {
            permits.release(.fetch, flight(i))
            permits.request(.render, flight(i), lane: .slow, since: WallTime(i))
        }
        // What waits for its render counts as a fetch.
        expect(numbers(&permits), Array(1...limit) + Array(7..<7 + min(limit, 2)))
        expect(numbers(&permits), [])
        permits.forget(flight(1))
        expect(numbers(&permits).first, limit + 1)
    }

    @Test("Once it drains, flights that have had a permit go on, and nothing else begins")
    func drain() {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 1))
        permits.request(.fetch, flight(1), lane: .slow, since: 1)
        expect(numbers(&permits), [1])
        permits.request(.fetch, flight(2), lane: .fast, since: 2)
        permits.drain()
        permits.request(.fetch, flight(3), lane: .fast, since: 3)
        permits.release(.fetch, flight(1))
        permits.request(.render, flight(1), lane: .slow, since: 1)
        expect(numbers(&permits), [1])
        #expect(!permits.isIdle)
        permits.forget(flight(1))
        #expect(permits.isIdle)
        expect(numbers(&permits), [])
    }

    @Test("No slow flight starts while a fast one waits")
    func fastFirst() {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 1, slow: 1, slowWait: 1_000))
        permits.request(.fetch, flight(1), lane: .fast, since: 0)
        permits.request(.fetch, flight(2), lane: .fast, since: 1)
        permits.request(.render, flight(3), lane: .slow, since: 0)
        expect(numbers(&permits), [1])
        permits.forget(flight(1))
        expect(numbers(&permits), [2, 3])
    }

    @Test("A slow flight that has waited too long gets one permit while fast ones wait, and only one does")
    func ageing() {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 2, slow: 1, slowWait: 1_000))
        permits.request(.fetch, flight(1), lane: .fast, since: 0)
        permits.request(.fetch, flight(2), lane: .fast, since: 0)
        permits.request(.render, flight(3), lane: .slow, since: 0)
        permits.request(.render, flight(4), lane: .slow, since: 0)
        expect(numbers(&permits, at: 999), [1])
        expect(numbers(&permits, at: 1_000), [3])
        expect(numbers(&permits, at: 5_000), [])
        permits.forget(flight(3))
        expect(numbers(&permits, at: 5_000), [4])
    }

    @Test("A slow flight that has waited too long is fetched while fast ones take each permit", arguments: [1, 4])
    func ageingFetch(fetched: Int) {
        var permits = PermitScheduler(PermitRules(fetch: 4, render: 1, slow: 1, slowWait: 1_000))
        for i in 1...20 { permits.request(.fetch, flight(i), lane: .fast, since: 0) }
        expect(numbers(&permits), [1, 2, 3, 4])
        permits.request(.fetch, flight(21), lane: .slow, since: 0)
        for i in 1...fetched {
            permits.release(.fetch, flight(i))
            permits.request(.render, flight(i), lane: .fast, since: 0)
        }
        // Render-bound, there is room for a fetch only as a render begins.
        expect(numbers(&permits, at: 1_000), [1, 21])
    }

    @Test("An aged flight goes on although an older one, under way as well, is ahead of it")
    func ageingBehindOlder() {
        var permits = PermitScheduler(PermitRules(fetch: 4, render: 1, slow: 1, slowWait: 1_000))
        permits.request(.fetch, flight(1), lane: .slow, since: 500)
        expect(numbers(&permits), [1])
        for i in 10...30 { permits.request(.fetch, flight(i), lane: .fast, since: 0) }
        permits.request(.fetch, flight(2), lane: .slow, since: 400)
        expect(numbers(&permits, at: 900), [10, 11, 12])
        permits.release(.fetch, flight(10))
        permits.request(.render, flight(10), lane: .fast, since: 0)
        expect(numbers(&permits, at: 1_400), [10, 2])
        for i in [1, 2] {
            permits.release(.fetch, flight(i))
            permits.request(.render, flight(i), lane: .slow, since: i == 1 ? 300 : 400)
        }
        permits.release(.render, flight(10))
        expect(numbers(&permits, at: 1_500).first, 1)
        permits.forget(flight(1))
        expect(numbers(&permits, at: 1_500).first, 2)
    }

    @Test("A waiting flight that becomes fast goes with the fast ones; a running one frees its slow place")
    func promotion() {
        var permits = PermitScheduler(PermitRules(fetch: 4, render: 4, slow: 1))
        for i in 1...3 { permits.request(.render, flight(i), lane: .slow, since: WallTime(i)) }
        expect(numbers(&permits), [1])
        permits.move(flight(3), to: .fast, since: 3)
        expect(numbers(&permits), [3])
        permits.move(flight(1), to: .fast, since: 1)
        expect(numbers(&permits), [2])
    }

    @Test("After a failure of the machine's only probes go, each at its time, until one passes")
    func halt() {
        var permits = PermitScheduler(PermitRules(fetch: 8, render: 4))
        for i in 1...3 { permits.request(.fetch, flight(i), lane: .fast, since: WallTime(i)) }
        expect(numbers(&permits), [1, 2, 3])
        permits.release(.fetch, flight(1))
        permits.request(.render, flight(1), lane: .fast, since: 1)
        for i in 4...6 { permits.request(.fetch, flight(i), lane: .fast, since: WallTime(i)) }
        expect(permits.fail(flight(2), at: 0), true)
        permits.forget(flight(2))
        expect(permits.fail(flight(3), at: 10), false)
        permits.forget(flight(3))
        expect(numbers(&permits, at: 1_999), [])
        // What has been fetched goes first; a probe has all its permits, and its failure leaves the time as it is.
        expect(numbers(&permits, at: 2_000), [1])
        expect(numbers(&permits, at: 3_000), [])
        expect(permits.fail(flight(1), at: 3_000), false)
        permits.forget(flight(1))
        expect(numbers(&permits, at: 3_999), [])
        expect(numbers(&permits, at: 4_000), [4])
        permits.release(.fetch, flight(4))
        permits.request(.render, flight(4), lane: .fast, since: 4)
        expect(numbers(&permits, at: 4_001), [4])
        expect(permits.pass(flight(3)), [])
        expect(permits.pass(flight(4)), [.machine])
        expect(numbers(&permits, at: 4_002), [5, 6])
    }

    @Test(
        "How a probe ends says when the next one goes",
        arguments: [
            (ends: "by the machine's fault", next: 4_000), (ends: "by its own fault", next: 2_001),
            (ends: "stored", next: 2_001),
        ] as [(ends: String, next: Moment)])
    func probe(ends: String, next: Moment) {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 1))
        for i in 1...3 { permits.request(.fetch, flight(i), lane: .fast, since: WallTime(i)) }
        expect(numbers(&permits), [1])
        expect(permits.fail(flight(1), at: 0), true)
        permits.forget(flight(1))
        expect(numbers(&permits, at: 1_999), [])
        expect(numbers(&permits, at: 2_000), [2])
        if ends == "stored" { expect(permits.pass(flight(2)), [.machine]) }
        if ends == "by the machine's fault" { expect(permits.fail(flight(2), at: 2_001), false) }
        permits.forget(flight(2))
        expect(numbers(&permits, at: 2_001), next == 2_001 ? [3] : [])
        expect(numbers(&permits, at: 3_999), [])
        expect(numbers(&permits, at: 4_000), next == 4_000 ? [3] : [])
    }

    @Test("A flight that was under way when the halt came ends it too, once its work is stored")
    func haltEndedByAnother() {
        var permits = PermitScheduler(PermitRules(fetch: 2, render: 1))
        for i in 1...3 { permits.request(.fetch, flight(i), lane: .fast, since: WallTime(i)) }
        expect(numbers(&permits), [1, 2])
        expect(permits.fail(flight(1), at: 0), true)
        permits.forget(flight(1))
        expect(permits.pass(flight(1)), [])
        expect(permits.pass(flight(2)), [.machine])
        expect(numbers(&permits, at: 1), [3])
    }

    @Test("A halted worker that is told to stop lets what runs try to end")
    func haltedDrain() {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 1))
        permits.request(.fetch, flight(1), lane: .fast, since: 1)
        expect(numbers(&permits), [1])
        permits.release(.fetch, flight(1))
        permits.request(.render, flight(1), lane: .fast, since: 1)
        expect(permits.fail(flight(9), at: 0), true)
        expect(numbers(&permits), [])
        permits.drain()
        expect(numbers(&permits), [1])
    }

    @Test("Over 50,000 random steps no limit is passed, no permit is lost, and everything asked for is granted")
    func conserved() {
        var numbers = Numbers(state: 7)
        let host = { OriginHost(of: "http://\($0 % 3).example/") }
        let rules = PermitRules(fetch: 5, render: 3, slow: 2, slowWait: 50)
        var permits = PermitScheduler(rules)
        var holding: [PermitKind: Set<FlightID>] = [.fetch: [], .render: []]
        var lanes: [FlightID: Lane] = [:]
        var asked = 0
        var granted = 0
        var next = 0
        for time in 0..<50_000 {
            let now = Moment(WallTime(time))
            if Int.random(in: 0..<3, using: &numbers) == 0 {
                next += 1
                let lane: Lane = Bool.random(using: &numbers) ? .fast : .slow
                lanes[flight(next)] = lane
                permits.request(.fetch, flight(next), lane: lane, since: now.wall, host: host(next))
                asked += 1
            }
            if let done = holding[.fetch]?.first, Bool.random(using: &numbers) {
                holding[.fetch]?.remove(done)
                permits.release(.fetch, done)
                permits.request(.render, done, lane: lanes[done] ?? .fast, since: now.wall)
                asked += 1
            }
            if let done = holding[.render]?.first, Bool.random(using: &numbers) {
                holding[.render]?.remove(done)
                permits.forget(done)
            }
            for (kind, flight) in permits.grants(at: now) {
                let isNew = holding[kind]?.insert(flight).inserted
                #expect(isNew == true)
                granted += 1
            }
            #expect(holding[.fetch]!.count <= rules.fetch && holding[.render]!.count <= rules.render)
            #expect(permits.running(.fetch) == holding[.fetch]!.count)
            for number in 0..<3 {
                #expect(holding[.fetch]!.count { host($0.number) == host(number) } <= rules.fetchPerHost)
            }
        }
        var now: Moment = 50_000
        while granted < asked, now.wall < 200_000 {
            now += 1
            for kind in PermitKind.allCases {
                for done in holding[kind]! {
                    kind == .fetch ? permits.release(kind, done) : permits.forget(done)
                    if kind == .fetch {
                        permits.request(.render, done, lane: lanes[done] ?? .fast, since: now.wall)
                        asked += 1
                    }
                }
                holding[kind] = []
            }
            for (kind, flight) in permits.grants(at: now) {
                holding[kind]?.insert(flight)
                granted += 1
            }
        }
        #expect(granted == asked)
    }
}

extension PermitScheduler {
    /// For rules that hosts have no part in: each flight has one of its own.
    mutating func request(_ kind: PermitKind, _ flight: FlightID, lane: Lane, since: WallTime) {
        request(kind, flight, lane: lane, since: since, host: OriginHost(of: "http://\(flight.number).example/"))
    }
}
