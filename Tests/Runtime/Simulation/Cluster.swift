internal import Canonical
internal import ImageModel
internal import Ports
internal import Records

/// The brokers: the logs of all topics, what appends and reads meet there, and what becomes of each.
final class Cluster {
    unowned(unsafe) let world: World
    static let partitionCount = 4
    let logs: [TopicLog]
    /// Nothing has room until then, microseconds.
    var fullUntil: Int64 = 0
    var slowUntil: Int64 = 0
    /// Answers of appends get lost until then.
    var cutUntil: Int64 = 0
    /// Where the next append of a process may land: a producer keeps its order.
    private var order: [Int: Int64] = [:]

    /// Above it a record is refused, in bytes.
    static let recordLimit = 24 << 10
    /// A producer gives up a record that has no leader for so long.
    private static let patience: Int64 = 8_000_000

    init(_ world: World) {
        self.world = world
        logs = Topic.allCases.sorted { $0.ordinal < $1.ordinal }.flatMap { topic in
            Cluster.partitions.map { TopicLog(topic, $0) }
        }
    }

    static var partitions: [PartitionID] { (0..<Int32(partitionCount)).map { PartitionID($0) } }

    func log(_ topic: Topic, _ partition: PartitionID) -> TopicLog {
        logs[topic.ordinal * Self.partitionCount + Int(partition.number)]
    }

    func isAway(_ log: TopicLog) -> Bool { log.awayUntil > world.now }
    /// Whether all that a partition's owner needs answers.
    func answers(_ partition: PartitionID) -> Bool {
        fullUntil <= world.now && !Topic.allCases.contains { isAway(log($0, partition)) }
    }

    /// Time that a request takes.
    var latency: Int64 {
        world.chance.within(500...20_000) + (slowUntil > world.now ? world.chance.within(0...1_500_000) : 0)
    }

    /// A producer's records of one partition of one topic: they land together, behind those before them.
    func append(
        _ records: [NewRecord], to log: TopicLog, by process: SimulatedProcess, as owner: Ownership?,
        isHeld: @escaping () -> Bool, _ answer: @escaping ([AppendResult]) -> Void
    ) {
        // At the worst time: what it announces now lands when others own its partitions.
        if log.topic.isFolded, world.faults.contains(.pause), world.chance.isOne(in: log.topic == .parked ? 8 : 60) {
            world.pauseSoon(process)
        }
        let key = process.number << 8 | log.topic.ordinal << 4 | Int(log.partition.number)
        let time = max(world.now + latency, order[key] ?? 0)
        order[key] = time
        let givenUp = world.now + Self.patience
        world.after(time - world.now) { [self] in
            land(records, log, process, owner, isHeld, until: givenUp, answer)
        }
    }

    private func land(
        _ records: [NewRecord], _ log: TopicLog, _ process: SimulatedProcess, _ owner: Ownership?,
        _ isHeld: @escaping () -> Bool, until givenUp: Int64, _ answer: @escaping ([AppendResult]) -> Void
    ) {
        func refuse(_ failure: LogFailure) {
            if records.contains(where: \.isProgress) {
                world.count(.progressRefused)
                process.consumer.hinder()
            }
            world.after(latency) { answer(records.map { _ in .refused(failure) }) }
        }
        // What a process had sent when it was killed lands or does not.
        if process.isDead {
            if world.chance.isOne(in: 2) { return world.count(.lostWithKill) }
            world.count(.landedAfterKill)
        }
        if process.isPaused, world.chance.below(4) > 0 {
            return process.afterPause { [self] in land(records, log, process, owner, isHeld, until: .max, answer) }
        }
        guard isHeld() || process.isDead else {
            world.count(.appendOfOldOwnerRefused)
            return refuse(.unavailable(reason: "its partition has gone to another owner meanwhile"))
        }
        if isAway(log) {
            if world.now >= givenUp || process.isDead {
                world.count(.appendTimedOut)
                return refuse(.unavailable(reason: "\(log.topic.rawValue) has no leader"))
            }
            let pause = min(max(1, log.awayUntil - world.now), givenUp - world.now)
            return world.after(pause) { [self] in land(records, log, process, owner, isHeld, until: givenUp, answer) }
        }
        if fullUntil > world.now {
            world.count(.appendFull)
            return refuse(.full(path: "simulated"))
        }
        let isCut = cutUntil > world.now && world.chance.isOne(in: 2)
        if isCut, world.chance.isOne(in: 2) {
            world.count(.appendLost)
            process.consumer.hinder()
            return world.after(latency) {
                answer(records.map { _ in .unknown(.unavailable(reason: "the connection was cut")) })
            }
        }
        let results = records.map { record -> AppendResult in
            guard record.byteCount <= Self.recordLimit else {
                world.count(.appendTooLarge)
                return .refused(.tooLarge(topic: log.topic, bytes: record.byteCount, limit: Self.recordLimit))
            }
            if loses(record) { return .acknowledged(log.end) }
            var record = record
            if world.plants(.tearAnswer), log.topic == .outcomes, world.chance.isOne(in: 50) {
                record.value?.removeLast()
            }
            if world.plants(.repeatIdentity), case .parked(let source, _)? = RecordKey(record.key) {
                record.key = RecordKey.parked(source, JobIdentity(ofOwn: "repeated")).bytes
            }
            if world.plants(.unparkEarly), let drop = world.parked.drop(endedBy: record) {
                _ = world.ledger.land(drop, in: self.log(.parked, log.partition), epoch: owner?.epoch, by: process)
            }
            let offset = world.ledger.land(record, in: log, epoch: owner?.epoch, by: process)
            guard world.plants(.answerEarly), log.topic == .variants else { return .acknowledged(offset) }
            return .acknowledged(min(offset, process.consumer.position(.variants, log.partition) ?? offset))
        }
        announce(log)
        if isCut {
            world.count(.appendUnknown)
            process.consumer.hinder()
            world.ledger.doubt(records)
            world.poisonJobs.doubt(records)
            world.parked.doubt(records)
            world.after(latency) {
                answer(results.map { $0.offset == nil ? $0 : .unknown(.unavailable(reason: "the connection was cut")) })
            }
        } else {
            world.after(latency) { answer(results) }
        }
    }

    private func loses(_ record: NewRecord) -> Bool {
        if world.plants(.skipFence), case .epoch? = RecordKey(record.key) { return true }
        if world.plants(.loseTombstone), record.topic == .parked, record.value == nil { return true }
        if world.plants(.loseDebt), record.isStaleRefresh { return true }
        return world.plants(.loseAnswer) && record.topic == .outcomes && world.chance.isOne(in: 50)
    }

    /// A publisher's record.
    func publish(_ record: NewRecord) {
        let log = log(record.topic, record.partition)
        _ = world.ledger.land(record, in: log, epoch: nil, by: nil)
        announce(log)
    }

    /// Consumers that read it hear of it.
    func announce(_ log: TopicLog) {
        for machine in world.machines { machine.process?.consumer.hear(log) }
    }
}

extension NewRecord {
    fileprivate var isStaleRefresh: Bool {
        topic == .parked
            && headers[EventHeader.id].map { String(decoding: $0, as: UTF8.self).hasPrefix(Job.staleRefreshPrefix) }
                ?? false
    }

    var isProgress: Bool { if topic == .variants, case .progress? = RecordKey(key) { true } else { false } }
}
