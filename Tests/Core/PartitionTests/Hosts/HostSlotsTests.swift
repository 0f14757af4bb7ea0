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

@Suite("A host's ceiling is the cluster's: slots", .timeLimit(.minutes(1)))
struct HostSlotsTests {
    static let host = OriginHost(of: "http://h.example/")

    static func partitions(_ range: Range<Int>) -> Set<PartitionID> {
        Set(range.map { PartitionID(Int32($0)) })
    }

    private func slots(_ owned: Set<PartitionID>, of partitions: Int, ceiling: Int) -> HostSlots {
        var slots = HostSlots(partitions: partitions, OriginRules(concurrency: ceiling))
        slots.own(owned)
        slots.know()
        return slots
    }

    @Test("Owners of all partitions have the whole ceiling together, each as much as its range is long")
    func parts() {
        for (partitions, ceiling, workers) in [
            (24, 6, 3), (12, 6, 4), (8, 64, 3), (7, 5, 5), (256, 1_024, 9), (1, 6, 1),
        ] {
            for number in 0..<50 {
                let host = OriginHost(of: "http://h\(number).example/")
                let counts = (0..<workers).map { worker in
                    let range = worker * partitions / workers..<(worker + 1) * partitions / workers
                    let count = slots(Self.partitions(range), of: partitions, ceiling: ceiling).count(of: host)
                    #expect(
                        (range.count * ceiling / partitions...range.count * ceiling / partitions + 1).contains(count))
                    return count
                }
                #expect(counts.reduce(0, +) == ceiling)
            }
        }
    }

    @Test("Each partition shares the slot whose home is next before it")
    func numbers() {
        for (partitions, ceiling) in [(24, 6), (8, 3), (7, 5), (4, 9), (5, 1)] {
            let slots = slots([], of: partitions, ceiling: ceiling)
            for number in 0..<40 {
                let host = OriginHost(of: "http://h\(number).example/")
                for partition in 0..<partitions {
                    let slot = HostSlots.Slot(host, slots.number(for: PartitionID(Int32(partition)), of: host))
                    #expect((0..<ceiling).contains(slot.number))
                    let behind = { (slot: HostSlots.Slot) in
                        (partition - Int(slots.defaultOwner(of: slot).number) + partitions) % partitions
                    }
                    #expect((0..<ceiling).allSatisfy { behind(slot) <= behind(HostSlots.Slot(host, $0)) })
                }
            }
        }
    }

    @Test(
        "A worker that has just got partitions uses no slot before it has heard where they stand, unless it has all and has heard of hosts before"
    )
    func unheard() {
        var alone = HostSlots(partitions: 4, OriginRules(concurrency: 6))
        alone.own(Self.partitions(0..<4))
        #expect(alone.count(of: Self.host) == 0)
        alone.know()
        #expect(alone.count(of: Self.host) == 6)
        var slots = HostSlots(partitions: 4, OriginRules(concurrency: 6))
        slots.own(Self.partitions(0..<2))
        #expect(slots.count(of: Self.host) == 0)
        slots.know()
        #expect(slots.count(of: Self.host) > 0)
        // Those of the partitions that it had are in no doubt.
        let known = slots.count(of: Self.host)
        slots.own(Self.partitions(0..<3))
        #expect(slots.count(of: Self.host) == known)
        slots.own(Self.partitions(0..<4))
        #expect(slots.count(of: Self.host) == 6)
    }

    @Test(
        "A slot is of use, and goes home, where its partition is owned and all rows were heard since that came",
        arguments: [
            // The partitions owned one after another, nil for a reading; and those whose slots are of use then.
            ([0..<2], []), ([0..<2, nil], [0, 1]), ([0..<2, nil, 0..<3], [0, 1]),
            ([0..<2, nil, 0..<3, nil], [0, 1, 2]),
            ([0..<2, nil, 1..<3], [1]), ([0..<2, nil, 1..<2, 0..<2], [1]), ([0..<2, nil, 0..<0, 0..<2], []),
            ([0..<2, 0..<3, 0..<2, nil], [0, 1]), ([nil, 0..<2], []), ([0..<2, nil, 0..<3, 1..<4], [1]),
        ] as [([Range<Int>?], Set<Int32>)])
    func late(steps: [Range<Int>?], known: Set<Int32>) {
        // As many slots as partitions: one stands at each.
        var slots = HostSlots(partitions: 6, OriginRules(concurrency: 6))
        for step in steps {
            if let step { slots.own(Self.partitions(step)) } else { slots.know() }
        }
        #expect(slots.count(of: Self.host) == known.count)
        // One that stands at another than its home goes there once it was idle, if it is known to stand here.
        for partition in Self.partitions(steps.lazy.compactMap { $0 }.last ?? 0..<0) {
            var slots = slots
            let slot = HostSlots.Slot(Self.host, slots.number(for: PartitionID(5), of: Self.host))
            slots.move(slot, to: partition, at: 0)
            slots.pass([], at: 100_000) { _ in false }
            #expect(slots.ready { _ in 0 }.map(\.from) == (known.contains(partition.number) ? [partition] : []))
        }
    }

    @Test(
        "A wish that the owner of its slot does not answer goes to the next slot every 20 seconds: that may have none")
    func unanswered() {
        let owned = Self.partitions(0..<3)
        let slotRequest = HostSlots.Request(Self.host, for: PartitionID(3), since: 0)
        var answered: [Int: Instant] = [:]
        for time in stride(from: 0, to: 60_000, by: 1_000).map({ Instant($0) }) {
            var slots = slots(owned, of: 4, ceiling: 3)
            slots.pass([slotRequest], at: time) { _ in false }
            for pass in slots.ready(inUse: { _ in 0 }) where answered[pass.slot.number] == nil {
                answered[pass.slot.number] = time
            }
        }
        let own = slots(owned, of: 4, ceiling: 3).number(for: PartitionID(3), of: Self.host)
        for number in 0..<3
        where owned.contains(slots(owned, of: 4, ceiling: 3).defaultOwner(of: HostSlots.Slot(Self.host, number))) {
            #expect(answered[number] == Instant((number - own + 3) % 3 * 20_000))
        }
        #expect(answered.count >= 2)
    }

    @Test("Rows that name no partition, and wishes of none, move nothing")
    func strangers() {
        var slots = slots(Self.partitions(0..<3), of: 4, ceiling: 6)
        let before = slots.count(of: Self.host)
        for number in 0..<6 { slots.move(HostSlots.Slot(Self.host, number), to: PartitionID(9), at: 0) }
        slots.pass([HostSlots.Request(Self.host, for: PartitionID(9), since: 0)], at: 9_000) { _ in false }
        #expect(slots.count(of: Self.host) == before && slots.ready { _ in 0 }.isEmpty)
    }

    /// Workers that fetch for ever, own partitions that change hands, and hear each other's rows late.
    private struct Crew {
        let (partitions, ceiling): (Int, Int)
        var random: SeededRandom
        var workers: [HostSlots]
        /// By worker: how far it has read, and what is under way.
        var read: [Int]
        var inUse: [Int]
        var owners: [Int]
        var rows: [(slot: HostSlots.Slot, to: PartitionID)] = []
        /// Since when somebody without a slot was heard to want one.
        var requesting: [Int: Instant] = [:]
        /// Who wants fetches.
        var wants: [Bool]
        var served: [Int]

        init(_ count: Int, partitions: Int, ceiling: Int, seed: UInt64) {
            (self.partitions, self.ceiling, random) = (partitions, ceiling, SeededRandom(seed: seed))
            workers = (0..<count).map { _ in HostSlots(partitions: partitions, OriginRules(concurrency: ceiling)) }
            read = Array(repeating: 0, count: count)
            (inUse, served) = (read, read)
            wants = Array(repeating: true, count: count)
            owners = Array(repeating: 0, count: partitions)
            rebalance()
        }

        /// Eager: all give up everything first.
        mutating func rebalance() {
            for worker in workers.indices {
                workers[worker].own([])
                inUse[worker] = 0
            }
            let first = Int.random(in: 0..<workers.count, using: &random)
            for partition in 0..<partitions {
                owners[partition] = (first + partition * workers.count / partitions) % workers.count
            }
            for worker in workers.indices { workers[worker].own(owned(by: worker)) }
        }

        func owned(by worker: Int) -> Set<PartitionID> {
            Set(owners.indices.filter { owners[$0] == worker }.map { PartitionID(Int32($0)) })
        }

        mutating func round(_ worker: Int, at now: Instant) {
            for row in rows[read[worker]...] { workers[worker].move(row.slot, to: row.to, at: now) }
            read[worker] = rows.count
            workers[worker].know()
            let slotRequests = workers.indices.compactMap { other -> HostSlots.Request? in
                guard wants[other], workers[other].count(of: HostSlotsTests.host) == 0, other != worker,
                    let partition = owned(by: other).min()
                else {
                    requesting[other] = nil
                    return nil
                }
                requesting[other] = requesting[other] ?? now
                return HostSlots.Request(HostSlotsTests.host, for: partition, since: requesting[other] ?? now)
            }
            workers[worker].pass(slotRequests, at: now) { [wants, inUse] _ in wants[worker] || inUse[worker] > 0 }
            for pass in workers[worker].ready(inUse: { [inUse] _ in inUse[worker] }) {
                #expect(owners[Int(pass.from.number)] == worker)
                rows.append((pass.slot, pass.to))
                workers[worker].move(pass.slot, to: pass.to, at: now)
            }
        }

        mutating func fetch(_ worker: Int) {
            if inUse[worker] > 0, Bool.random(using: &random) { inUse[worker] -= 1 }
            while wants[worker], inUse[worker] < workers[worker].count(of: HostSlotsTests.host) {
                inUse[worker] += 1
                served[worker] += 1
            }
        }
    }

    @Test(
        "However slots are passed and partitions change hands, no more fetches run than the ceiling, and every worker has its turns",
        arguments: [(3, 12, 1), (3, 12, 2), (5, 12, 3), (3, 24, 6), (8, 8, 2)])
    func crew(workers: Int, partitions: Int, ceiling: Int) {
        for seed in 0..<20 as Range<UInt64> {
            var crew = Crew(workers, partitions: partitions, ceiling: ceiling, seed: seed)
            for step in 0..<6_000 {
                let worker = Int.random(in: 0..<workers, using: &crew.random)
                if Int.random(in: 0..<3, using: &crew.random) == 0 { crew.round(worker, at: Instant(step * 300)) }
                crew.fetch(worker)
                #expect(crew.inUse.reduce(0, +) <= ceiling)
                if step % 2_000 == 1_999 { crew.rebalance() }
            }
            #expect((crew.served.min() ?? 0) > 10, "\(crew.served)")
        }
    }

    @Test(
        "A worker whose fast jobs want a slot has it at once from an owner that needs it for slow ones alone, and after a turn from others",
        arguments: [
            (isUrgent: true, usesUrgently: false, passedAt: 1_500 as Instant), (true, true, 6_000), (false, false, 6_000),
        ])
    func urgent(isUrgent: Bool, usesUrgently: Bool, passedAt: Instant) {
        let slot = HostSlots.Slot(Self.host, 0)
        let defaultOwner = slots([], of: 4, ceiling: 1).defaultOwner(of: slot)
        var slots = slots([defaultOwner], of: 4, ceiling: 1)
        let other = PartitionID((defaultOwner.number + 1) % 4)
        let slotRequest = HostSlots.Request(Self.host, for: other, isUrgent: isUrgent, since: 1_000)
        for now in stride(from: 1_500, through: 6_000, by: 500).map({ Instant($0) }) {
            slots.pass([slotRequest], at: now, usesUrgently: { _ in usesUrgently }, uses: { _ in true })
            let targets = slots.ready { _ in 0 }.map(\.to)
            #expect(targets == (now < passedAt ? [] : [other]), "\(now.nanoseconds)")
        }
    }

    @Test(
        "Fast jobs that wait, or are fetched, keep a slot for a turn; slow ones, until one has waited too long, do not, where another worker's fast ones want it",
        arguments: [
            (lane: Lane.fast, waited: 0 as Duration, isFetched: false, isKept: true), (.fast, 0, true, true),
            (.slow, 59_000, false, false), (.slow, 60_000, false, true), (.slow, 0, true, true),
        ])
    func kept(lane: Lane, waited: Duration, isFetched: Bool, isKept: Bool) {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 1, origins: OriginRules(concurrency: 1)))
        let defaultOwner = slots([], of: 4, ceiling: 1).defaultOwner(of: HostSlots.Slot(Self.host, 0))
        permits.own([defaultOwner], of: 4)
        permits.knowSlots()
        let now: Moment = 100_000
        permits.request(.fetch, FlightID(defaultOwner, 1), lane: lane, since: now.wall - waited, host: Self.host)
        let granted = isFetched ? permits.grants(at: now).count : 1
        let slotRequest = HostSlots.Request(
            Self.host, for: PartitionID((defaultOwner.number + 1) % 4), isUrgent: true, since: now.monotonic)
        let passed = permits.pass([slotRequest], at: now + 100)
        // A fetch under way ends first.
        #expect(granted == 1 && passed.isEmpty == isKept)
        permits.forget(FlightID(defaultOwner, 1))
        let after = permits.pass([slotRequest], at: now + 200).count
        #expect(after == 1)
    }

    @Test(
        "A slot goes to the request of fast jobs, or of a slow one that has waited too long, and of these to the oldest",
        arguments: [
            // Ages in seconds of a fast and of two slow requests; who has the slot.
            (fast: 1, slow: [50, 9], first: 0), (70, [50, 65], 0), (1, [50, 65], 2), (1, [60, 65], 2), (nil, [50, 9], 1),
        ] as [(fast: Int?, slow: [Int], first: Int32)])
    func order(fast: Int?, slow: [Int], first: Int32) {
        let defaultOwner = slots([], of: 4, ceiling: 1).defaultOwner(of: HostSlots.Slot(Self.host, 0))
        var (slots, slotRequests) = (slots([defaultOwner], of: 4, ceiling: 1), SlotRequests())
        for (number, age) in ([fast] + slow).enumerated() {
            guard let age else { continue }
            // Clocks differ.
            let clock = WallTime(number * 3_600_000 + 100_000)
            var row = OriginRow(host: Self.host.description, by: "\(number)", at: clock)
            row.waiting[number == 0 ? .fast : .slow] = 1
            row.tell(
                HostSlots.Request(
                    Self.host, for: PartitionID((defaultOwner.number + 1 + Int32(number)) % 4), since: 100_000 - .seconds(age)),
                at: Moment(wall: clock, monotonic: 100_000))
            slotRequests.hear(row, of: Self.host, at: 200_000)
        }
        slots.pass(slotRequests.live(at: 200_000, slowWait: 60_000), at: 200_000) { _ in false }
        #expect(slots.ready { _ in 0 }.map(\.to) == [PartitionID((defaultOwner.number + 1 + first) % 4)])
        #expect(slotRequests.live(at: 200_000 + OriginSummary.freshness, slowWait: 60_000).isEmpty)
    }

    @Test("A request of a program that tells no age counts from when it was first heard, until it is withdrawn")
    func ageless() {
        var slotRequests = SlotRequests()
        var row = OriginRow(host: Self.host.description, by: "old", at: 9)
        row.partition = PartitionID(1)
        for time in [90_000, 100_000] as [Instant] { slotRequests.hear(row, of: Self.host, at: time) }
        #expect(slotRequests.live(at: 101_000, slowWait: 60_000).map(\.since) == [90_000])
        row.partition = nil
        slotRequests.hear(row, of: Self.host, at: 101_000)
        #expect(slotRequests.live(at: 101_000, slowWait: 60_000).isEmpty)
    }

    @Test(
        "A worker with waiting jobs and no slot requests one, dated by its oldest job, or by its last fetch if that is younger"
    )
    func requests() {
        var permits = PermitScheduler(PermitRules(fetch: 8, render: 1, origins: OriginRules(concurrency: 1)))
        let slot = HostSlots.Slot(Self.host, 0)
        let defaultOwner = slots([], of: 2, ceiling: 1).defaultOwner(of: slot)
        let own = PartitionID(1 - defaultOwner.number)
        permits.own([own], of: 2)
        permits.knowSlots()
        let start: Moment = 900_000
        func slotRequests(at now: Moment) -> [HostSlots.Request] { Array(permits.slotRequests(at: now).values) }
        permits.request(.fetch, FlightID(own, 1), lane: .slow, since: start.wall - 7_000, host: Self.host)
        permits.request(.fetch, FlightID(own, 2), lane: .slow, since: start.wall - 3_000, host: Self.host)
        #expect(permits.grants(at: start).isEmpty)
        let slotRequest = HostSlots.Request(Self.host, for: own, since: start.monotonic - 7_000)
        #expect(slotRequests(at: start) == [slotRequest] && slotRequests(at: start + 53_000) == [slotRequest])
        permits.move(slot, to: own, at: start.monotonic)
        #expect(permits.grants(at: start + 60_000).count == 1 && slotRequests(at: start + 60_000).isEmpty)
        permits.forget(FlightID(own, 1))
        permits.move(slot, to: defaultOwner, at: start.monotonic + 61_000)
        #expect(
            slotRequests(at: start + 61_000) == [HostSlots.Request(Self.host, for: own, since: start.monotonic + 60_000)])
    }

    @Test("Slots behind the ceiling, which programs before 0.2.0 kept for slow jobs, are of no use, and their rows may go")
    func beyond() {
        var slots = slots(Self.partitions(0..<2), of: 4, ceiling: 6)
        let (before, beyond) = (slots.count(of: Self.host), HostSlots.Slot(Self.host, 6))
        slots.move(beyond, to: PartitionID(0), at: 0)
        #expect(slots.count(of: Self.host) == before && slots.isAtDefaultOwner)
        #expect(slots.isAtDefaultOwner(beyond, at: PartitionID(0)))
    }

    @Test("A slot of no use goes home after half a minute, so that one worker that asks alone has what it owns")
    func defaultOwner() {
        var crew = Crew(3, partitions: 12, ceiling: 1, seed: 4)
        let defaultOwner = crew.owners[Int(crew.workers[0].defaultOwner(of: HostSlots.Slot(Self.host, 0)).number)]
        let other = (defaultOwner + 1) % 3
        for worker in 0..<3 { crew.wants[worker] = worker == other }
        for step in 0..<6 { for worker in 0..<3 { crew.round(worker, at: Instant(step * 1_000)) } }
        #expect(crew.workers.map { $0.count(of: Self.host) }[other] == 1)
        crew.wants[other] = false
        for step in 6..<40 { for worker in 0..<3 { crew.round(worker, at: Instant(step * 1_000)) } }
        #expect(crew.workers.map { $0.count(of: Self.host) }[defaultOwner] == 1 && crew.rows.count == 2)
    }

    @Test("A slot that goes home to another partition of its owner is of use there")
    func defaultOwnerIsOwner() {
        var slots = slots(Self.partitions(0..<6), of: 12, ceiling: 12)
        let slot = HostSlots.Slot(Self.host, 0)
        let other = PartitionID((slots.defaultOwner(of: slot).number + 1) % 6)
        var found = 0
        for number in 0..<12 {
            let slot = HostSlots.Slot(Self.host, number)
            guard slots.defaultOwner(of: slot) < PartitionID(6), slots.defaultOwner(of: slot) != other else { continue }
            slots.move(slot, to: other, at: 0)
            slots.pass([], at: 60_000) { _ in false }
            for pass in slots.ready(inUse: { _ in 0 }) {
                #expect(pass.to == slots.defaultOwner(of: slot) && pass.from == other)
                slots.move(pass.slot, to: pass.to, at: 60_000)
                found += 1
            }
        }
        #expect(found == 5 && slots.count(of: Self.host) == 6)
    }
}
