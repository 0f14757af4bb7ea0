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

@Suite("Permits beside hosts that are silent, or drip", .timeLimit(.minutes(1)))
struct LateFetchTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        let hosts: Int
        let jobs: Int
        var lane = Lane.fast
        var testDescription: String { "\(hosts) hosts, \(jobs) jobs each, \(lane)" }
    }

    private static let fetch = 32
    private static func rules() -> PermitRules {
        var rules = PermitRules(fetch: fetch, render: 8, origins: OriginRules(concurrency: 6))
        rules.lateAfter = 1_000
        return rules
    }

    private func host(_ name: String, _ number: Int) -> OriginHost {
        OriginHost(of: "http://\(name)\(number).example/")
    }

    /// Hosts that answer nothing, but for a failure at their deadline, in a worker that looks 20 times a second.
    private struct World {
        var permits = PermitScheduler(LateFetchTests.rules())
        var now: Moment = 0
        /// Hostile fetches, and when they end.
        var ends: [FlightID: Moment] = [:]
        var innocent: Set<FlightID> = []
        var asked: [FlightID: Moment] = [:]
        var waits: [Duration] = []
        var most = 0

        mutating func step() {
            now += 50
            for (flight, at) in ends where at.wall <= now.wall {
                ends[flight] = nil
                finish(flight, .failed)
            }
            for flight in innocent { finish(flight, .responded(bytes: 1)) }
            innocent = []
            for (_, flight) in permits.grants(at: now) {
                if let since = asked.removeValue(forKey: flight) {
                    waits.append(now - since)
                    innocent.insert(flight)
                } else {
                    ends[flight] = now + 30_000
                }
            }
            most = max(most, permits.running(.fetch))
        }

        private mutating func finish(_ flight: FlightID, _ answer: OriginResponse) {
            _ = permits.apply(.hear(answer, flight, code: "x"), at: now)
            permits.forget(flight)
        }
    }

    @Test(
        "Fast jobs of hosts that answer begin within 2 s, beside hosts that do not",
        arguments: [
            Case(hosts: 16, jobs: 6), Case(hosts: 32, jobs: 1), Case(hosts: 40, jobs: 4), Case(hosts: 44, jobs: 200),
            Case(hosts: 40, jobs: 4, lane: .slow), Case(hosts: 100, jobs: 50, lane: .slow),
        ])
    private func innocents(row: Case) {
        var world = World()
        var number = 0
        for job in 0..<row.jobs {
            for hostile in 0..<row.hosts {
                // Partitions are restored one after the other: some hosts are late before others have begun.
                if job == 0, hostile % 5 == 4 { for _ in 0..<3 { world.step() } }
                number += 1
                let id = FlightID(PartitionID(Int32(number % 8)), number)
                world.permits.request(.fetch, id, lane: row.lane, since: WallTime(job), host: host("hostile", hostile))
            }
        }
        // An innocent job each second, of hosts that nothing is known of.
        for second in 0..<120 {
            for _ in 0..<20 { world.step() }
            number += 1
            let id = FlightID(PartitionID(Int32(number % 8)), number)
            world.asked[id] = world.now
            world.permits.request(.fetch, id, lane: .fast, since: world.now.wall, host: host("innocent", second % 5))
        }
        for _ in 0..<40 { world.step() }
        #expect(world.waits.count == 120 && world.asked.isEmpty)
        #expect((world.waits.max() ?? .hours(1)) <= 2_000, "\(world.waits)")
        #expect(world.most <= 2 * Self.fetch)
    }

    @Test("However many hosts do not answer, those that have answered find a permit")
    func known() {
        var world = World()
        let id = { FlightID(PartitionID(0), $0) }
        for number in 0..<5 {
            world.asked[id(number)] = 0
            world.permits.request(.fetch, id(number), lane: .fast, since: 0, host: host("innocent", number))
        }
        for _ in 0..<2 { world.step() }
        for number in 100..<600 {
            world.permits.request(.fetch, id(number), lane: .fast, since: 1, host: host("hostile", number))
        }
        for _ in 0..<80 { world.step() }
        for number in 10..<60 {
            world.asked[id(number)] = world.now
            world.permits.request(.fetch, id(number), lane: .fast, since: 2, host: host("innocent", number % 5))
            for _ in 0..<4 { world.step() }
        }
        #expect(world.asked.isEmpty && (world.waits.max() ?? .hours(1)) <= 200, "\(world.waits)")
    }

    @Test("A late fetch gives its permit back once, whatever becomes of it, and the hosts that had to wait go on")
    func conserved() {
        var permits = PermitScheduler(Self.rules())
        let id = { FlightID(PartitionID(0), $0) }
        let count = 3 * Self.fetch
        for number in 0..<count {
            let lane: Lane = number % 2 == 0 ? .fast : .slow
            permits.request(.fetch, id(number), lane: lane, since: 0, host: host("h", number))
        }
        var begun = permits.grants(at: Moment(0)).map(\.flight)
        #expect(begun.count == Self.fetch && permits.late.all == 0)
        #expect(permits.grants(at: Moment(999)).isEmpty)
        begun += permits.grants(at: Moment(1_000)).map(\.flight)
        begun += permits.grants(at: Moment(2_000)).map(\.flight)
        #expect(permits.late.all <= Self.fetch && permits.running(.fetch) == begun.count)
        for flight in begun { permits.move(flight, to: .slow, since: 0) }
        #expect(permits.late.all == permits.late.slow)
        var time: Moment = 2_000
        while let flight = begun.popLast() {
            time += 50
            flight.number % 3 == 0 ? permits.forget(flight) : permits.release(.fetch, flight)
            permits.forget(flight)
            begun += permits.grants(at: time).map(\.flight)
        }
        #expect(permits.isIdle && permits.running(.fetch) == 0 && permits.late == (0, 0))
    }
}
