import Clocks
import ImageModel
import Jobs
import Partition
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("A partition, simulated from seeds", .timeLimit(.minutes(5)))
struct PartitionSimulationTests {
    /// A test's own seeds, from the first on.
    private static func seeds(from first: UInt64, _ count: Int) -> Range<UInt64> {
        first..<first + UInt64(Effort.count(landing: count / 5, all: count))
    }

    private static let specs = [
        VariantSpec(width: 1280, height: 1280, format: .webp), VariantSpec(width: 640, height: 640, format: .webp),
        VariantSpec(width: 160, height: 160, mode: .crop, format: .jpeg),
        VariantSpec(width: 90, height: 0, format: .png),
    ]

    private func run(
        seed: UInt64, jobs: Int, crashes: Int, moves: Int = 0, expiring: ClosedRange<Int64>? = nil
    ) -> Simulation {
        var world = Simulation(seed: seed, keepOriginals: seed % 2 == 0)
        var published = 0
        var steps = 0
        while published < jobs || !world.isDone {
            if published < jobs, Int.random(in: 0..<4, using: &world.numbers) == 0 {
                let wanted = Self.specs.filter { _ in Bool.random(using: &world.numbers) }
                world.publish(
                    "job \(published)", source: Int.random(in: 0..<20, using: &world.numbers),
                    wanted.isEmpty ? [Self.specs[0]] : wanted, lane: Bool.random(using: &world.numbers) ? .fast : .slow,
                    expires: expiring.map {
                        world.now.wall + .milliseconds(Int64.random(in: $0, using: &world.numbers))
                    })
                published += 1
            }
            if world.crashes < crashes, Int.random(in: 0..<300, using: &world.numbers) == 0 { world.crash() }
            if moves > 0, world.crashes < crashes + moves, Int.random(in: 0..<150, using: &world.numbers) == 0 {
                world.move()
            }
            world.step()
            steps += 1
            guard steps < 400_000 else { break }
        }
        return world
    }

    @Test("Every job ends, once, and committable offsets reach the end", arguments: seeds(from: 0, 300))
    func ends(seed: UInt64) {
        let world = run(seed: seed, jobs: 60, crashes: 0)
        #expect(world.isDone == true, "seed \(seed): jobs are left")
        for number in 0..<60 {
            #expect(world.outcomes["job \(number)"]?.count == 1, "seed \(seed): job \(number)")
        }
        for (topic, end) in world.offsets { #expect(world.committed[topic] == end, "seed \(seed): \(topic)") }
    }

    @Test(
        "Jobs with little time end once as well, nothing is fetched for expired ones alone, and none expires before its time",
        arguments: seeds(from: 3_000, 200))
    func expiring(seed: UInt64) {
        let world = run(seed: seed, jobs: 60, crashes: 0, expiring: 0...(seed % 2 == 0 ? 60 : 400))
        #expect(world.isDone == true, "seed \(seed): jobs are left")
        var expired = 0
        for (id, outcomes) in world.outcomes {
            #expect(outcomes.count == 1, "seed \(seed): \(id)")
            guard let outcome = outcomes.first, outcome.kind == .expired else { continue }
            expired += 1
            let expires = world.jobs.first { $0.job.id == id }?.job.expires
            #expect(expires.map { $0 <= outcome.at } == true, "seed \(seed): \(id) expired before its time")
        }
        #expect(world.outcomes.count == 60 && (1..<60).contains(expired), "seed \(seed): \(expired) expired")
    }

    @Test(
        "A partition that goes and comes back to the same worker answers no job twice",
        arguments: seeds(from: 2_000, 200))
    func moves(seed: UInt64) {
        let world = run(seed: seed, jobs: 60, crashes: 0, moves: 12)
        #expect(world.isDone == true, "seed \(seed): jobs are left")
        for number in 0..<60 {
            #expect(world.outcomes["job \(number)"]?.count == 1, "seed \(seed): job \(number)")
        }
        for (topic, end) in world.offsets { #expect(world.committed[topic] == end, "seed \(seed): \(topic)") }
    }

    /// An origin that fails now and then may answer a replay otherwise than it answered before the crash: readers keep
    /// the first of the outcomes with one id. Whatever always answers the same must end the same.
    @Test(
        "After crashes every job still ends, and repeats say what was said before",
        arguments: seeds(from: 1_000, 300))
    func crashes(seed: UInt64) {
        let world = run(seed: seed, jobs: 60, crashes: 5)
        #expect(world.isDone == true, "seed \(seed): jobs are left")
        for number in 0..<60 {
            let outcomes = world.outcomes["job \(number)"] ?? []
            let failures = outcomes.filter { [.failed, .dead].contains($0.kind) }.count
            #expect(!outcomes.isEmpty, "seed \(seed): job \(number) was lost")
            let isFlaky =
                outcomes.first?.source.map { source in
                    (0..<20).contains { $0 % 7 == 3 && Simulation.key($0) == source }
                } ?? false
            #expect(isFlaky || failures == 0 || failures == outcomes.count, "seed \(seed): job \(number) both ways")
        }
    }

    @Test(
        "With originals kept, no source is fetched twice but for what a crash lost", arguments: seeds(from: 0, 100))
    func onceFetched(seed: UInt64) {
        let world = run(seed: seed * 2, jobs: 60, crashes: 2)
        let steady = world.fetches.filter { key, _ in
            !(0..<20).contains { ($0 % 10 == 9 || $0 % 7 == 3) && Simulation.key($0) == key }
        }
        let repeated = steady.values.reduce(0) { $0 + $1 - 1 }
        // What was fetched and not announced when the crash came is fetched again; so is what ran then.
        #expect(repeated <= world.crashes * 5, "seed \(seed)")
        if world.crashes == 0 { #expect(repeated == 0, "seed \(seed)") }
    }

    @Test(
        "While the store is full, or the log away, only a probe now and then is fetched, and all end once it is over",
        arguments: seeds(from: 0, 20), ["store", "log"])
    func halted(seed: UInt64, by fault: String) {
        var world = Simulation(seed: seed, keepOriginals: true)
        (world.isFull, world.isAway) = (fault == "store", fault == "log")
        for job in 0..<60 { world.publish("job \(job)", source: job % 3 + 105, Self.specs, lane: .fast) }
        while world.now.wall < 40_000 { world.step() }
        // Three may be under way at the first failure; then it is one in two seconds.
        let fetches = world.fetches.values.reduce(0, +)
        #expect((10...3 + 20).contains(fetches), "seed \(seed): \(fetches) fetches")
        #expect(world.outcomes.isEmpty)
        (world.isFull, world.isAway) = (false, false)
        while !world.isDone, world.now.wall < 200_000 { world.step() }
        for job in 0..<60 { #expect(world.outcomes["job \(job)"]?.count == 1, "seed \(seed): job \(job)") }
    }

    @Test("The same seed gives the same run")
    func repeatable() {
        let a = run(seed: 42, jobs: 80, crashes: 3)
        let b = run(seed: 42, jobs: 80, crashes: 3)
        #expect(a.now == b.now && a.changelog == b.changelog && a.outcomes == b.outcomes)
    }
}
