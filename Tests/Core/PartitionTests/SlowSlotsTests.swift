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

@Suite("Slow flights have a third of a host's ceiling: of all workers together", .timeLimit(.minutes(1)))
struct SlowSlotsTests {
    private static let host = OriginHost(of: "http://h.example/")

    /// Workers that hear of one another once a second, own partitions that change hands, and always have jobs.
    private struct Crew {
        struct Fetch {
            let flight: FlightID
            let lane: Lane
            let end: Instant
        }

        let (partitions, ceiling, lanes): (Int, Int, [Lane])
        var random: SeededRandom
        var workers: [PermitScheduler]
        var owners: [Int]
        /// By worker: how far it has read, what it has told that it wants, what it fetches, and how much of which lane it has
        /// fetched.
        var read: [Int]
        var told: [OriginRow]
        var wishes: [SlotWishes]
        /// When each began a slow one, and the longest time that one has waited for the next.
        var slowBegan: [Instant]
        var longest = Duration.zero
        var running: [[Fetch]]
        var served: [ByLane<Int>]
        var rows: [(slot: HostSlots.Slot, to: PartitionID)] = []
        var most = (all: 0, slow: 0)
        var now: Instant = 0
        private var (steps, number) = (0, 0)
        /// Its owner has not come, since its topics are away.
        var orphan: PartitionID?

        init(_ count: Int, ceiling: Int, lanes: [Lane], seed: UInt64, orphan: PartitionID? = nil) {
            self.orphan = orphan
            (partitions, self.ceiling, self.lanes, random) = (12, ceiling, lanes, SeededRandom(seed: seed))
            workers = (0..<count).map { _ in Self.worker(ceiling) }
            read = Array(repeating: 0, count: count)
            told = (0..<count).map { OriginRow(host: SlowSlotsTests.host.description, by: "\($0)", at: 0) }
            (wishes, owners) = (Array(repeating: SlotWishes(), count: count), Array(repeating: 0, count: partitions))
            slowBegan = Array(repeating: 0, count: count)
            (running, served) = (Array(repeating: [], count: count), Array(repeating: .none, count: count))
            rebalance()
        }

        private static func worker(_ ceiling: Int) -> PermitScheduler {
            PermitScheduler(
                PermitRules(
                    fetch: 256, render: 1, slowWait: 20_000, origins: OriginRules(concurrency: ceiling, start: ceiling))
            )
        }

        /// Eager: all give up everything first.
        mutating func rebalance() {
            for worker in workers.indices {
                for flight in workers[worker].seats.keys { workers[worker].forget(flight) }
                running[worker] = []
            }
            let first = Int.random(in: 0..<workers.count, using: &random)
            for partition in owners.indices {
                owners[partition] = (first + partition * workers.count / partitions) % workers.count
            }
            for worker in workers.indices { workers[worker].own(owned(by: worker), of: partitions) }
            slowBegan = slowBegan.map { _ in now }
        }

        /// Another comes in its place.
        mutating func kill(_ worker: Int) {
            (workers[worker], read[worker], wishes[worker]) = (Self.worker(ceiling), 0, SlotWishes())
            rebalance()
        }

        private func owned(by worker: Int) -> Set<PartitionID> {
            Set(owners.indices.filter { owners[$0] == worker }.map { PartitionID(Int32($0)) }).subtracting(
                orphan.map { [$0] } ?? [])
        }

        private mutating func share(_ worker: Int) {
            for row in rows[read[worker]...] { workers[worker].move(row.slot, to: row.to, at: now) }
            read[worker] = rows.count
            workers[worker].knowSlots()
            for row in told where row.by != told[worker].by {
                wishes[worker].hear(row, of: SlowSlotsTests.host, at: now)
                if row.slowInUse ?? 0 > 0 { workers[worker].hearSlow(SlowSlotsTests.host, at: now) }
            }
            // Clocks differ.
            let wall = Moment(now).wall + .hours(worker)
            let want = workers[worker].wants(at: now)[SlowSlotsTests.host] ?? HostSlots.Want()
            told[worker].at = wall
            let isBorrowing = workers[worker].borrows(SlowSlotsTests.host)
            told[worker].slowInUse = max(running[worker].count { $0.lane == .slow }, isBorrowing ? 1 : 0)
            told[worker].tell(want, at: Moment(wall: wall, monotonic: now))
            for pass in workers[worker].pass(wishes[worker].live(at: now), at: now) {
                #expect(owners[Int(pass.from.number)] == worker)
                rows.append((pass.slot, pass.to))
                workers[worker].move(pass.slot, to: pass.to, at: now)
            }
        }

        private mutating func fetch(_ worker: Int) {
            for fetch in running[worker] where fetch.end <= now {
                let moment = Moment(now)
                _ = workers[worker].apply(.hear(.answered(bytes: 1), fetch.flight, code: ""), at: moment)
                workers[worker].forget(fetch.flight)
                served[worker][fetch.lane] += 1
            }
            running[worker].removeAll { $0.end <= now }
            let owned = owned(by: worker).sorted()
            for lane in lanes {
                while workers[worker].waiting(.fetch, on: lane) < 8 {
                    number += 1
                    let flight = FlightID(owned[number % owned.count], number)
                    workers[worker].request(
                        .fetch, flight, lane: lane, since: Moment(now).wall, host: SlowSlotsTests.host)
                }
            }
            for grant in workers[worker].grants(at: Moment(now)) {
                let lane = workers[worker].seats[grant.flight]?.lane ?? .fast
                if lane == .slow {
                    longest = max(longest, now - slowBegan[worker])
                    slowBegan[worker] = now
                }
                let end = now + .milliseconds(Int64.random(in: 100...2_500, using: &random))
                running[worker].append(Fetch(flight: grant.flight, lane: lane, end: end))
            }
        }

        /// A quarter of a second.
        mutating func step() {
            (now, steps) = (now + 250, steps + 1)
            for worker in workers.indices {
                if steps % 4 == worker % 4 { share(worker) }
                fetch(worker)
                let all = running.joined()
                longest = max(longest, now - slowBegan[worker])
                most = (max(most.all, all.count), max(most.slow, all.count { $0.lane == .slow }))
            }
        }

        /// What each was served in so many seconds.
        mutating func run(seconds: Int) -> [ByLane<Int>] {
            served = served.map { _ in .none }
            for _ in 0..<seconds * 4 { step() }
            return served
        }
    }

    @Test(
        "No more than a third run at once, and one at least, through rebalances and kills, and each worker's have their turns",
        arguments: [
            (workers: 6, ceiling: 6, third: 2), (6, 1, 1), (6, 2, 1), (6, 3, 1), (6, 4, 1), (6, 5, 1), (6, 18, 6),
            (6, 100, 33),
            (3, 6, 2), (3, 2, 1), (2, 4, 1), (1, 6, 2), (1, 1, 1),
        ])
    func thirds(workers: Int, ceiling: Int, third: Int) {
        for seed in 0..<Effort.count(landing: 2, all: 4) {
            let lanes: [Lane] = seed.isMultiple(of: 2) ? [.slow] : [.fast, .slow]
            var crew = Crew(workers, ceiling: ceiling, lanes: lanes, seed: UInt64(seed))
            for round in 0..<3 {
                // Where slots are fewer than workers, and more than one, both kinds go round: a turn of one may miss the other.
                let served = crew.run(seconds: ceiling >= workers || ceiling == 1 ? 180 : 900)
                let slow = served.map { $0[.slow] }
                #expect(slow.allSatisfy { $0 > 0 }, "\(lanes): \(slow)")
                // A lone slot is held by slow flights that have waited too long, if there are always such.
                if lanes.contains(.fast), ceiling > 1 { #expect(served.allSatisfy { $0[.fast] > 0 }) }
                if round == 0 { crew.rebalance() } else { crew.kill(Int(seed) % workers) }
            }
            #expect(crew.most.slow <= third && crew.most.all <= ceiling, "\(lanes): \(crew.most)")
            // Of many slots, shares that are no multiple of three round down; beside fast flights slow ones come when aged.
            if third < 4, lanes == [.slow] { #expect(crew.most.slow == third) }
            #expect(crew.most.all == ceiling || lanes == [.slow])
        }
    }

    @Test(
        "A slow job begins within 25 seconds for each worker, of fetches of 2.5 seconds at most, however few slots there are",
        arguments: [(3, 1), (3, 2), (6, 3), (6, 4), (6, 5), (6, 6), (8, 6), (6, 18)])
    func bounds(workers: Int, ceiling: Int) {
        for lanes in [[Lane.slow], [.fast, .slow]] {
            for seed in 0..<UInt64(Effort.count(landing: 2, all: 6)) {
                var crew = Crew(workers, ceiling: ceiling, lanes: lanes, seed: seed)
                _ = crew.run(seconds: 600)
                #expect(
                    crew.longest <= .seconds(25 * workers), "\(lanes), seed \(seed): \(crew.longest.milliseconds) ms")
                #expect(crew.most.all <= ceiling && crew.most.slow <= max(1, ceiling / 3))
            }
        }
    }

    @Test(
        "Where the only slow slot stands at a partition without an owner, workers borrow it in turns, until that comes")
    func orphan() {
        let home = { (ceiling: Int) in
            HostSlots(partitions: 12, OriginRules(concurrency: ceiling)).home(of: HostSlots.Slot(Self.host, ceiling))
        }
        for (workers, ceiling) in [(2, 3), (3, 4), (6, 5)] {
            for lanes in [[Lane.slow], [.fast, .slow]] {
                var crew = Crew(workers, ceiling: ceiling, lanes: lanes, seed: 1, orphan: home(ceiling))
                let served = crew.run(seconds: 1_200).map { $0[.slow] }
                #expect(served.allSatisfy { $0 > workers }, "\(workers) workers, \(lanes): \(served)")
                #expect(crew.most.slow == 1 && crew.most.all <= ceiling, "\(crew.most)")
                crew.orphan = nil
                crew.rebalance()
                let after = crew.run(seconds: 300).map { $0[.slow] }.reduce(0, +)
                #expect(after > served.reduce(0, +) / 4 && crew.most.slow == 1, "\(served), then \(after)")
            }
        }
    }

    @Test(
        "Who has waited longest for a slow slot is known by its own row, though clocks differ and it was not heard before"
    )
    func ages() {
        var wishes = SlotWishes()
        func row(_ by: String, at: WallTime, age: Duration?, _ want: HostSlots.Want) -> OriginRow {
            var row = OriginRow(host: Self.host.description, by: by, at: at)
            row.tell(want, at: Moment(wall: at, monotonic: 0))
            row.slowSince = age.map { at - $0 }
            return row
        }
        let (young, old) = (
            HostSlots.Want(slow: PartitionID(1)), HostSlots.Want(fetch: PartitionID(2), slow: PartitionID(2))
        )
        wishes.hear(row("young", at: 3_600_000, age: 4_000, young), of: Self.host, at: 100_000)
        wishes.hear(row("old", at: 0, age: 90_000, old), of: Self.host, at: 101_000)
        // A program of before tells no age: it counts from when it was heard.
        wishes.hear(row("before", at: 0, age: nil, HostSlots.Want(slow: PartitionID(3))), of: Self.host, at: 90_000)
        let slow = wishes.live(at: 101_000).filter(\.isSlow).sorted()
        #expect(slow.map(\.partition.number) == [2, 3, 1] && slow.map(\.since) == [11_000, 90_000, 96_000])
        // One that lacks nothing else wants a slot since its job had waited for ten seconds, and goes before later ones only.
        for (age, order) in [(20_000, [7, 2]), (9_000, [2, 7]), (.milliseconds(Int64.max / 2), [7, 2])]
            as [(Duration, [Int32])]
        {
            wishes.hear(
                row("holder", at: 0, age: age, HostSlots.Want(fetch: PartitionID(7))), of: Self.host, at: 102_000)
            let fetches = wishes.live(at: 102_000).filter { !$0.isSlow }.sorted()
            #expect(fetches.map(\.partition.number) == order)
            #expect(fetches.allSatisfy { 102_000 as Instant - $0.since <= 3_600_000 })
        }
        // Who wants no slow slot any more, and tells no age, has none.
        wishes.hear(row("holder", at: 0, age: nil, HostSlots.Want(fetch: PartitionID(7))), of: Self.host, at: 102_500)
        #expect(wishes.live(at: 102_500).filter { !$0.isSlow }.map(\.since).sorted() == [101_000, 102_000])
        // A fast job that has waited longer than that goes before it.
        var fair = SlotWishes()
        for time in [90_000, 101_000] as [Instant] {
            fair.hear(row("fast", at: 0, age: nil, HostSlots.Want(fetch: PartitionID(5))), of: Self.host, at: time)
        }
        fair.hear(row("holder", at: 0, age: 15_000, HostSlots.Want(fetch: PartitionID(7))), of: Self.host, at: 102_000)
        #expect(fair.live(at: 102_000).sorted().map(\.partition.number) == [5, 7])
        wishes.hear(row("old", at: 0, age: nil, HostSlots.Want()), of: Self.host, at: 103_000)
        #expect(wishes.live(at: 103_000).count == 3 && wishes.live(at: 125_000).count == 2)
    }

    @Test(
        "A worker without a slow slot says that the limit holds its slow flights, and for which partition it wants one")
    func held() throws {
        var permits = PermitScheduler(PermitRules(fetch: 64, render: 1, origins: OriginRules(concurrency: 6)))
        // Two slow slots stand half the ring apart: an owner of a third of it that has none.
        let owned = try #require(
            (0..<12).lazy.map { first in Set((0..<4).map { PartitionID(Int32((first + $0) % 12)) }) }.first { owned in
                var slots = HostSlots(partitions: 12, OriginRules(concurrency: 6))
                slots.own(owned)
                slots.know()
                return slots.count(of: Self.host, isSlow: true) == 0
            })
        permits.own(owned, of: 12)
        permits.knowSlots()
        let partition = try #require(owned.min())
        let (slow, fast) = (FlightID(partition, 1), FlightID(partition, 2))
        permits.request(.fetch, slow, lane: .slow, since: 0, host: Self.host)
        #expect(permits.grants(at: 0).isEmpty)
        let want = try #require(permits.wants(at: 0)[Self.host])
        #expect(want == HostSlots.Want(fetch: nil, slow: partition, slowSince: 0))
        #expect(permits.origins[Self.host]?.holding(isSlow: true, at: 0) == .limit)
        permits.request(.fetch, fast, lane: .fast, since: 0, host: Self.host)
        #expect(permits.grants(at: 0).map(\.flight) == [fast])
        permits.move(HostSlots.Slot(Self.host, 6), to: partition, at: 0)
        #expect(permits.grants(at: 0).map(\.flight) == [slow])
        #expect(permits.seats[slow]?.heldBy == .limit && permits.wants(at: 0).isEmpty)
    }
}
