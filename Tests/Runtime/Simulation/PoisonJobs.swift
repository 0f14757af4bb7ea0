internal import Canonical
internal import ImageModel
internal import Records

/// Jobs that kill the worker that runs them, each of a source of its own: how often they did, and what became of them.
///
/// By a chance of their own, so that all else of a seed is as it would be without them.
final class PoisonJobs {
    static let count = 2
    /// Owners that may die of one job.
    private static let crashesToCondemn = 3

    unowned(unsafe) let world: World
    private var chance: Chance
    private let stages: [Flights.Stage]
    /// By killer: workers that died of it while they owned its partition.
    private var crashes = [Int](repeating: 0, count: count)
    /// By killer: records of its job that are in the log, and that their writer appends again, as it was not told so.
    private var copies = [Int](repeating: 0, count: count)
    /// By killer: how often an owner that lived on ended its run of crashes.
    private var outlived = [Int](repeating: 0, count: count)
    /// Workers that died of killers, owners or not.
    private var killed = 0

    init(_ world: World, seed: UInt64) {
        var chance = Chance(seed: seed ^ 0x4B49_4C4C)
        stages = chance.isOne(in: 3) ? (0..<Self.count).map { _ in chance.pick([.fetch, .render]) } : []
        (self.world, self.chance) = (world, chance)
    }

    /// Of the source that only this killer's job asks for.
    private static func number(of source: Int) -> Int? {
        (0..<count).contains(source - Origins.sourceCount) ? source - Origins.sourceCount : nil
    }

    func publishSoon() {
        for poisonJob in stages.indices {
            world.after(chance.within(0...40_000_000)) { [self] in
                let source = world.catalogue.sources[Origins.sourceCount + poisonJob]
                let job = Job(
                    id: "killer-\(poisonJob)", url: source.url, source: source.key,
                    variants: chance.pick(world.catalogue.wishes), lane: chance.isOne(in: 2) ? .slow : .fast,
                    expires: nil)
                world.count(.publishedKiller)
                world.cluster.publish(
                    job.newRecord(partitions: Cluster.partitionCount, at: world.wall))
            }
        }
    }

    /// A process works on a source: a killer's ends it soon.
    func meet(_ source: Int, _ stage: Flights.Stage, _ process: SimulatedProcess) {
        guard let poisonJob = Self.number(of: source), stages.indices.contains(poisonJob), stages[poisonJob] == stage
        else {
            return
        }
        world.after(chance.within(0...4_000)) { [self] in
            guard !process.isDead, !process.hasEnded else { return }
            let partition = world.catalogue.sources[source].partition
            killed += 1
            world.count(.killedByJob)
            world.note("killer", Int64(poisonJob), Int64(process.number))
            let ownership = process.consumer.epoch(of: partition).map {
                Ownerships.Key(partition: partition, epoch: $0)
            }
            let owner = ownership.flatMap { world.ownerships.rank($0) }
            let isOwner =
                owner == world.cluster.log(.variants, partition).newestOwner
                && owner == world.ownerships.newest(of: partition)
            // Who was about to leave, or to stop, says in its row that no job is to blame.
            if isOwner, !process.isStopping, case .owning = process.consumer.phase {
                // The first death of a run names nothing, and an owner that lives on ends the run.
                if crashes[poisonJob] == 1, outlived[poisonJob] < Self.crashesToCondemn,
                    ownership.map(world.ownerships.hasOutlivedTrial) == true
                {
                    outlived[poisonJob] += 1
                } else {
                    crashes[poisonJob] += 1
                }
            }
            // No worker knows copies as such: each is found out by itself.
            if crashes[poisonJob] > Self.crashesToCondemn * (1 + copies[poisonJob]) {
                world.fail(.poison, "killer \(poisonJob) has killed \(crashes[poisonJob]) owners")
            }
            world.end(process)
        }
    }

    /// A log of the partition was replaced: what its owners knew of its records counts no more.
    func excuse(_ partition: PartitionID) {
        for poisonJob in crashes.indices
        where world.catalogue.sources[Origins.sourceCount + poisonJob].partition == partition { crashes[poisonJob] = 0 }
    }

    /// Who appended these was not told that they are in the log.
    func doubt(_ records: [NewRecord]) {
        for record in records where record.topic == .parked && record.value != nil {
            let id = record.headers.withFirst(EventHeader.id) { String(decoding: $0, as: UTF8.self) }
            for poisonJob in copies.indices where id == "killer-\(poisonJob)" { copies[poisonJob] += 1 }
        }
    }

    /// A job was answered.
    func answered(_ id: String, _ report: OutcomeReport) {
        let isPoison = report.failure?.code == "job.poison"
        if isPoison { world.count(.poison) }
        // Where an owner ended badly the job may be in the log twice.
        for poisonJob in crashes.indices where id == "killer-\(poisonJob)" { crashes[poisonJob] = 0 }
        // Whoever kills for other reasons may hit a job that runs alone.
        guard !id.hasPrefix("killer-"), isPoison, world.counts[.killed] == killed, world.counts[.paused] == 0,
            world.counts[.revokedLate] == 0
        else { return }
        world.fail(.poison, "\(id) is a dead letter, and no killer")
    }
}

extension World {
    /// The process dies, and its machine starts another.
    func end(_ process: SimulatedProcess) {
        let machine = process.machine
        count(.killed)
        process.kill()
        group.expire(process)
        disturb(until: now + 12_000_000)
        guard machine.process === process else { return }
        machine.process = nil
        after(chance.within(100_000...10_000_000)) { [self] in restart(machine) }
    }
}
