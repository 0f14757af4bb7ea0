import Canonical
import Clocks
import Hosts
import ImageModel
import Ledger
import Partition
import Permits
import Records
import TestSupport
import Testing

@Suite("A host's slots go round among workers with fast and slow jobs", .timeLimit(.minutes(1)))
struct SlotTurnsTests {
    private static let host = OriginHost(of: "http://h.example/")

    /// Workers that hear of one another once a second, own partitions that change hands, and always have jobs.
    private struct Crew {
        struct Fetch {
            let flight: FlightID
            let lane: Lane
            let end: Instant
        }

        struct Member {
            var permits: PermitScheduler
            var slotRequests = SlotRequests()
            var row: OriginRow
            /// How far it has read.
            var read = 0
            var lanes: [Lane]
            var owned: [PartitionID] = []
            var running: [Fetch] = []
            /// When it last began a fetch of each lane, and the longest time without.
            var begunAt = ByLane<Instant> { _ in 0 }
            var longest = ByLane<Duration> { _ in .zero }
        }

        let partitions = 12
        var random: SeededRandom
        var members: [Member]
        var rows: [(slot: HostSlots.Slot, to: PartitionID)] = []
        var most = 0
        var now: Instant = 0
        private var (steps, number) = (0, 0)

        /// By worker, the lanes that always have jobs.
        init(_ lanes: [[Lane]], ceiling: Int, seed: UInt64) {
            random = SeededRandom(seed: seed)
            let rules = PermitRules(
                fetch: 256, render: 1, slowWait: 20_000, origins: OriginRules(concurrency: ceiling, start: ceiling))
            members = lanes.enumerated().map { number, lanes in
                Member(
                    permits: PermitScheduler(rules),
                    row: OriginRow(host: SlotTurnsTests.host.description, by: "\(number)", at: 0), lanes: lanes)
            }
            rebalance()
        }

        /// Eager: all give up everything first.
        mutating func rebalance() {
            let first = Int.random(in: 0..<members.count, using: &random)
            for index in members.indices {
                for flight in members[index].permits.entries.keys { members[index].permits.forget(flight) }
                (members[index].running, members[index].begunAt) = ([], ByLane { _ in now })
                members[index].owned = (0..<partitions)
                    .filter { (first + $0 * members.count / partitions) % members.count == index }
                    .map { PartitionID(Int32($0)) }
            }
            for index in members.indices { members[index].permits.own(Set(members[index].owned), of: partitions) }
        }

        private mutating func share(_ member: inout Member, clock: Duration) {
            for row in rows[member.read...] { member.permits.move(row.slot, to: row.to, at: now) }
            member.read = rows.count
            member.permits.knowSlots()
            for other in members where other.row.by != member.row.by {
                member.slotRequests.hear(other.row, of: SlotTurnsTests.host, at: now)
            }
            // Clocks differ.
            let moment = Moment(wall: Moment(now).wall + clock, monotonic: now)
            (member.row.at, member.row.partition, member.row.waitingSince) = (moment.wall, nil, nil)
            member.row.waiting = ByLane { member.permits.waiting(.fetch, on: $0) }
            if let slotRequest = member.permits.slotRequests(at: Moment(now))[SlotTurnsTests.host] {
                member.row.tell(slotRequest, at: moment)
            }
            for pass in member.permits.pass(member.slotRequests.live(at: now, slowWait: 20_000), at: Moment(now)) {
                #expect(member.owned.contains(pass.from))
                rows.append((pass.slot, pass.to))
                member.permits.move(pass.slot, to: pass.to, at: now)
            }
        }

        private mutating func fetch(_ member: inout Member) {
            for fetch in member.running where fetch.end <= now {
                _ = member.permits.apply(.hear(.responded(bytes: 1), fetch.flight, code: ""), at: Moment(now))
                member.permits.forget(fetch.flight)
            }
            member.running.removeAll { $0.end <= now }
            for lane in member.lanes {
                while member.permits.waiting(.fetch, on: lane) < 8 {
                    number += 1
                    let flight = FlightID(member.owned[number % member.owned.count], number)
                    member.permits.request(
                        .fetch, flight, lane: lane, since: Moment(now).wall, host: SlotTurnsTests.host)
                }
            }
            let slots = member.permits.origins[SlotTurnsTests.host]?.slots ?? 0
            for grant in member.permits.grants(at: Moment(now)) {
                let lane = member.permits.entries[grant.flight]?.lane ?? .fast
                member.begunAt[lane] = now
                let end = now + .milliseconds(Int64.random(in: 100...2_500, using: &random))
                member.running.append(Fetch(flight: grant.flight, lane: lane, end: end))
                #expect(lane == .fast || member.running.count { $0.lane == .slow } <= max(1, slots / 3))
            }
            for lane in member.lanes { member.longest[lane] = max(member.longest[lane], now - member.begunAt[lane]) }
        }

        mutating func run(seconds: Int) {
            for _ in 0..<seconds * 4 {
                (now, steps) = (now + 250, steps + 1)
                for index in members.indices {
                    var member = members[index]
                    if steps % 4 == index % 4 { share(&member, clock: .hours(index)) }
                    fetch(&member)
                    members[index] = member
                    most = max(most, members.map(\.running.count).reduce(0, +))
                }
            }
        }
    }

    @Test(
        "No more run at once than the ceiling, through rebalances, and each worker has its turns, however few slots there are",
        arguments: [(3, 1), (3, 2), (6, 3), (6, 4), (6, 5), (6, 6), (8, 6), (6, 18), (1, 6)])
    func bounds(workers: Int, ceiling: Int) {
        for lanes in [[Lane.slow], [.fast], [.fast, .slow]] {
            for seed in 0..<UInt64(Effort.count(landing: 2, all: 6)) {
                var crew = Crew(Array(repeating: lanes, count: workers), ceiling: ceiling, seed: seed)
                for _ in 0..<3 {
                    crew.run(seconds: 300)
                    crew.rebalance()
                }
                let longest = crew.members.flatMap { member in lanes.map { member.longest[$0] } }.max() ?? .zero
                #expect(longest <= .seconds(45), "\(lanes), seed \(seed): \(longest)")
                #expect(crew.most <= ceiling)
            }
        }
    }

    @Test("Workers with slow jobs alone yield to those with fast ones, until a slow one has waited too long")
    func yields() {
        for seed in 0..<UInt64(Effort.count(landing: 2, all: 6)) {
            var crew = Crew([[.slow], [.slow], [.fast], [.slow]], ceiling: 1, seed: seed)
            crew.run(seconds: 600)
            #expect(crew.members[2].longest[.fast] <= .seconds(20))
            #expect(crew.members.allSatisfy { $0.longest[.slow] <= .seconds(40) })
        }
    }
}
