internal import Canonical
internal import Clocks
internal import ImageModel
internal import Ledger
internal import Partition
internal import Ports
internal import Positions
internal import Records

/// A slow backlog beside fast jobs of the same host: each lane has a share of the memory to itself.
///
/// By a chance of their own, so that all else of a seed is as it would be without them.
final class Backlog {
    unowned(unsafe) let world: World
    private var chance: Chance
    /// Records that an owner has passed on. A repeated append is not checked again.
    private var seen: Set<String> = []

    /// Jobs of one host, one lane and one partition in memory: a quarter of the read-ahead.
    private static let share = World.readAhead / 4
    private static let (slow, fast) = (24, 10)
    /// Within this a job is read, unless others fill the read-ahead.
    private static let arrival = Duration.seconds(1)

    init(_ world: World, seed: UInt64) { (self.world, chance) = (world, Chance(seed: seed ^ 0x4241_434B)) }

    func publishSoon() {
        guard chance.isOne(in: 3) else { return }
        // Sources that other jobs seldom ask for.
        let sources = Dictionary(grouping: 24..<Origins.sourceCount) { number in
            [Int(world.catalogue.sources[number].partition.number), number % Origins.hostCount]
        }
        let some = chance.pick(sources.filter { $1.count > 4 }.map(\.value).sorted { $0[0] < $1[0] })
        let begin = chance.within(2_000_000...30_000_000)
        world.after(begin) { [self] in
            for number in 0..<Self.slow { publish(number, of: some[number % (some.count - 2)], .slow) }
        }
        for number in 0..<Self.fast {
            // The last ones were published as slow ones before.
            let source = number < Self.fast - 2 ? some[some.count - 1 - number % 2] : some[number % 2]
            world.after(begin + chance.within(0...6_000_000)) { [self] in publish(number, of: source, .fast) }
        }
    }

    private func publish(_ number: Int, of source: Int, _ lane: Lane) {
        if !world.publishes { return }
        world.count(.publishedBacklog)
        let source = world.catalogue.sources[source]
        let job = Job(
            id: "backlog-\(lane.rawValue)-\(number)", url: source.url, source: source.key,
            variants: world.catalogue.wishes[number % 5], lane: world.plants(.mixLanes) ? .fast : lane, expires: nil)
        world.cluster.publish(job.newRecord(partitions: Cluster.partitionCount, at: world.wall))
    }

    /// The lane that a job's publisher wanted; nil of a worker's own.
    private func lane(of id: String) -> Lane? {
        id.hasPrefix("backlog-slow") ? .slow : world.ledger.lane(of: id) ?? world.parked.lane(of: id)
    }

    /// Checks an owner's answers before they are appended, in the order of their decisions. Answers that were decided after a
    /// job was passed on are not in the log yet. So all fast jobs that were in memory then are unanswered.
    func look(at records: [NewRecord], by process: SimulatedProcess, as owner: Ownership) {
        for record in records where record.topic == .parked && record.value != nil {
            guard record.text(EventHeader.code) == RetryCause.Code.hostCrowded.rawValue else { continue }
            let id = record.text(EventHeader.id)
            guard lane(of: id) == .fast, record.headers[EventHeader.failingSince] == nil,
                // The oldest jobs of half a share are passed on, too, where they hold the committable offset back. A new one
                // finds room or none when it is read.
                WallTime(milliseconds: Int64(record.text(EventHeader.firstSeen)) ?? 0) > world.wall - Self.arrival,
                // An earlier owner's answers may land late.
                world.disturbedUntil[Int(owner.partition.number)] + World.aftermath < world.now,
                seen.insert("\(owner.epoch) \(process.number) \(record.text(EventHeader.answers))").inserted,
                let number = world.catalogue.number(of: record.key)
            else { continue }
            let host =
                record.headers[EventHeader.host] == nil
                ? number % Origins.hostCount : Origins.host(named: record.text(EventHeader.host))
            // A promoted job takes room of the fast lane.
            if world.controls.moves(in: owner.partition) { continue }
            // Jobs wait behind the parked ones of their host and lane.
            if hasParkedFast(host, in: owner.partition) { continue }
            let others = fastJobs(of: host, in: owner.partition, by: process).count { $0 != id }
            if others < Self.share {
                world.fail(
                    .room,
                    "worker \(process.number), partition \(owner.partition): \(id), and \(others) others of host \(host)"
                )
            }
        }
    }

    /// Whether `parked` has a row without a tombstone, of the host and of no slow job, whatever became of that job.
    private func hasParkedFast(_ host: Int, in partition: PartitionID) -> Bool {
        var live: [[UInt8]: Lane?] = [:]
        for entry in world.cluster.log(.parked, partition).entries {
            let id = entry.record.headers.withFirst(EventHeader.id) { String(decoding: $0, as: UTF8.self) }
            // The worker may have parked the job before it knew that the row was deleted.
            if entry.record.value != nil {
                live[entry.record.key] = .some(id.flatMap(lane))
            } else if entry.record.timestamp < world.wall - Self.arrival {
                live[entry.record.key] = nil
            }
        }
        return live.contains { key, lane in
            lane != .slow && world.catalogue.number(of: key).map { Origins.hosts(of: $0).contains(host) } ?? false
        }
    }

    /// Fast jobs that an owner was given and that are not answered, and what shares a flight with such.
    private func fastJobs(of host: Int, in partition: PartitionID, by process: SimulatedProcess) -> [String] {
        var jobs: [(id: String, source: Int, isOpen: Bool)] = []
        // A parked job may have started, and may have joined a fast one.
        for topic in Topic.consumed + [.parked] {
            let log = world.cluster.log(topic, partition)
            guard let reader = process.consumer.readers[log.place] else { continue }
            for entry in log.entries where (reader.first..<reader.position).contains(entry.record.offset) {
                guard let source = world.catalogue.number(of: entry.record.key), entry.record.value != nil,
                    Origins.hosts(of: source).contains(host)
                else { continue }
                jobs.append((entry.record.header(EventHeader.id) ?? "", source, !entry.isFinished))
            }
        }
        let fast = Set(jobs.filter { lane(of: $0.id) == .fast }.map(\.source))
        return jobs.filter { $0.isOpen && fast.contains($0.source) }.map(\.id)
    }
}

extension NewRecord {
    fileprivate func text(_ name: String) -> String {
        headers.withFirst(name) { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
