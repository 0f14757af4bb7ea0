internal import Canonical
internal import Clocks
internal import ImageModel
internal import Ports
internal import Records
internal import VariantSpec

/// The owning side of one process: a member of the group, as `KafkaLogConsumer` is one.
final class SimulatedConsumer: LogConsumer, @unchecked Sendable {
    unowned(unsafe) let process: SimulatedProcess
    var world: World { process.world }
    private(set) var listener: (any LogListener)?
    private(set) var phase = Phase.idle
    /// The group's generation in which it owns.
    private(set) var generation = -1
    var epochs: [PartitionID: Int64] = [:]
    var readers: [Int: Reader] = [:]
    /// Offsets to be committed, and those that are known to be.
    var pending: [Int: Int64] = [:]
    var known: [Int: Int64] = [:]
    var commits = 0
    var commitsUnderWay: Set<Int> = []
    var isCommitDue = false
    /// Waits for the last commits.
    var whenCommitted: (() -> Void)?
    /// Counts the group's decisions that it heard.
    var decision = 0
    /// What it heard while it was paused.
    private var missed: [() -> Void] = []

    enum Phase {
        case idle
        case preparing
        case owning([PartitionID])
        case revoking([PartitionID], waiting: Set<PartitionID>)
        case committing
        /// Leaves the group once its last commits are made.
        case stopping
        case stopped
    }

    /// Its ownerships of this generation.
    var ownerships: [Ownerships.Key] = []

    /// How far one place was read.
    struct Reader {
        /// Where this ownership began to read.
        let first: Int64
        var position: Int64
        /// Records below it have come.
        var arrived: Int64
        var isHeard = false
        /// Reading went back: nothing is handed out before it was decided where it goes on.
        var hasGoneBack = false
        /// Which log of the topic it reads, as far as the client noticed.
        var incarnation: Int
    }

    init(_ process: SimulatedProcess) { self.process = process }

    nonisolated var executor: any SerialExecutor { process.executor }
    var ownsNothing: Bool { if case .owning(let held) = phase { held.isEmpty } else { false } }
    var quietTime: Duration { .seconds(2) }
    var owned: [PartitionID] {
        switch phase {
        case .owning(let held), .revoking(let held, _): held
        default: []
        }
    }

    func start(_ listener: any LogListener) async throws(LogFailure) {
        if process.isDead { throw .closed }
        self.listener = listener
        world.group.join(process)
    }

    // MARK: What the group says

    /// Says something to the process, or when it wakes up.
    func tell(_ body: @escaping () -> Void) {
        if process.isDead { return }
        if process.isPaused { missed.append(body) } else { body() }
    }

    func wake() {
        // A zombie goes on for a while before it hears what became of its partitions.
        let zombie = !world.group.isMember(process) && !epochs.isEmpty
        if zombie { world.count(.zombie) }
        world.after(zombie ? world.chance.within(1_000...800_000) : 0) { [self] in
            // Paused again meanwhile, it hears all of it when it wakes the next time.
            if process.isDead || process.isPaused { return }
            let missed = missed
            self.missed = []
            for body in missed { tell(body) }
            if !world.group.isMember(process) { lose() }
        }
    }

    /// The group gives its partitions out again.
    func revoke() {
        switch phase {
        case .owning(let held):
            phase = .revoking(held, waiting: Set(held))
            let deadline = process.machine.monotonic(at: world.now) + .seconds(2)
            let number = decision
            world.after(2_000_000) { [self] in
                tell { self.endRevocation(number) }
            }
            world.count(.revoked)
            for partition in held { listener?.revoked(partition, deadline: deadline) }
            if held.isEmpty { finishRevocation() }
        case .revoking, .committing, .stopping, .stopped: break
        case .idle, .preparing:
            decision += 1
            releaseAll()
            world.group.ready(process)
        }
    }

    private func endRevocation(_ number: Int) {
        guard number == decision, case .revoking(_, let waiting) = phase else { return }
        world.count(.revokedLate)
        tellLost(waiting.sorted())
        finishRevocation()
    }

    private func finishRevocation() {
        guard case .revoking = phase else { return }
        phase = .committing
        commitLast(within: 1_000_000) { [self] in
            decision += 1
            releaseAll()
            world.group.ready(process)
        }
    }

    /// The group has gone on without this process.
    func lose() {
        switch phase {
        case .stopping: return endCommits()
        case .stopped: return
        default: decision += 1
        }
        let held = epochs.keys.sorted()
        if !held.isEmpty { world.count(.lost) }
        tellLost(held)
        releaseAll()
        world.group.join(process)
    }

    private func tellLost(_ partitions: [PartitionID]) {
        for partition in partitions { epochs[partition] = nil }
        for partition in partitions { listener?.lost(partition) }
    }

    private func releaseAll() {
        (epochs, readers, pending, known) = ([:], [:], [:], [:])
        (commitsUnderWay, whenCommitted) = ([], nil)
        if case .stopped = phase { return }
        phase = .idle
    }

    /// These partitions are the process's: bounds and offsets are asked for first.
    func assign(_ partitions: [PartitionID], generation: Int) {
        guard case .idle = phase, world.group.owns(process, generation) else { return }
        decision += 1
        phase = .preparing
        prepare(partitions, generation, decision)
    }

    /// All that the group gave is asked for, and partition by partition taken up where every topic of it answers: as
    /// `KafkaLogConsumer` does.
    private func prepare(_ partitions: [PartitionID], _ generation: Int, _ number: Int) {
        let cluster = world.cluster
        world.after(cluster.latency) { [self] in
            tell { [self] in
                guard number == decision else { return }
                var logs: [PartitionID: [TopicLog]] = [:]
                for partition in partitions {
                    let all = (Topic.consumed + Topic.folded).map { cluster.log($0, partition) }
                    if !all.contains(where: { cluster.isAway($0) }) { logs[partition] = all }
                }
                let known = partitions.filter { logs[$0] != nil }
                let left = partitions.filter { logs[$0] == nil }
                if !left.isEmpty {
                    world.count(.questionFailed)
                    if !known.isEmpty { world.count(.assignedInPart) }
                    world.after(500_000) { self.tell { self.prepare(left, generation, number) } }
                    if known.isEmpty { return }
                }
                // Asked now, taken up a little later.
                let group = world.group
                let asked = logs.values.joined()
                let committed = Dictionary(uniqueKeysWithValues: asked.map { ($0.place, group.committed[$0.place]) })
                let bounds = Dictionary(uniqueKeysWithValues: asked.map { ($0.place, $0.start..<$0.end) })
                let incarnations = Dictionary(uniqueKeysWithValues: asked.map { ($0.place, $0.incarnation) })
                world.after(world.chance.within(100...10_000)) {
                    self.tell {
                        guard number == self.decision else { return }
                        self.adopt(known, generation, bounds, incarnations, committed)
                    }
                }
            }
        }
    }

    /// Others may have been taken up before: they go on as they are.
    private func adopt(
        _ partitions: [PartitionID], _ generation: Int, _ bounds: [Int: Range<Int64>], _ incarnations: [Int: Int],
        _ committed: [Int: Int64?]
    ) {
        switch phase {
        case .preparing: (phase, ownerships) = (.owning(partitions), [])
        case .owning(let held): phase = .owning((held + partitions).sorted())
        default: return
        }
        self.generation = generation
        for partition in partitions {
            let changelog = world.cluster.log(.variants, partition)
            let range = bounds[changelog.place] ?? 0..<0
            let epoch = GroupEpoch.epoch(changelogEnd: range.upperBound, generation: Int64(generation))
            epochs[partition] = epoch
            world.ownerships.begin(
                Ownerships.Key(partition: partition, epoch: epoch), incarnation: incarnations[changelog.place] ?? 0,
                committed: committed.compactMapValues { $0 })
            ownerships.append(Ownerships.Key(partition: partition, epoch: epoch))
            world.count(.assigned)
            world.note("assigned", Int64(process.number), Int64(partition.number), epoch)
            for topic in Topic.consumed {
                let log = world.cluster.log(topic, partition)
                let bounds = bounds[log.place] ?? 0..<0
                let offset = committed[log.place] ?? nil
                if let offset { known[log.place] = offset }
                let position = min(max(offset ?? 0, bounds.lowerBound), bounds.upperBound)
                readers[log.place] = Reader(
                    first: position, position: position, arrived: position, incarnation: log.incarnation)
            }
            let folded = ByFoldedTopic { topic in bounds[world.cluster.log(topic, partition).place] ?? 0..<0 }
            let starts = folded.clamp(
                listener?.assigned(partition, epoch: epoch, folded: folded) ?? folded.starts)
            for topic in Topic.folded {
                let log = world.cluster.log(topic, partition)
                readers[log.place] = Reader(
                    first: starts[topic], position: starts[topic], arrived: starts[topic], incarnation: log.incarnation)
            }
            for topic in Topic.consumed + Topic.folded { hear(world.cluster.log(topic, partition)) }
        }
    }

    // MARK: Reading

    /// Records came to a log: if it is read here, they arrive soon.
    func hear(_ log: TopicLog) {
        guard !process.isDead, readers[log.place]?.isHeard == false else { return }
        readers[log.place]?.isHeard = true
        world.after(max(0, log.awayUntil - world.now) + world.cluster.latency) { [self] in
            tell { self.arrive(log) }
        }
    }

    private func arrive(_ log: TopicLog) {
        guard var reader = readers[log.place] else { return }
        reader.isHeard = false
        defer { if readers[log.place] != nil, log.end > (readers[log.place]?.arrived ?? .max) { hear(log) } }
        if world.cluster.isAway(log) {
            readers[log.place] = reader
            return hear(log)
        }
        if reader.incarnation != log.incarnation {
            reader.incarnation = log.incarnation
            // The client's offset is behind the log's end: it begins again by itself. Else it goes on, in silence.
            if reader.position > log.end {
                reader.hasGoneBack = true
                world.count(.wentBack)
            } else {
                world.ledger.excuseReplaced(in: log, below: reader.position)
            }
        }
        // Retention went past it.
        reader.position = max(reader.position, log.start)
        // Not all comes at once.
        let end =
            world.chance.isOne(in: 4) && log.end - reader.arrived > 1 ? (log.end + reader.arrived + 1) / 2 : log.end
        reader.arrived = end
        readers[log.place] = reader
        listener?.readable(log.topic, log.partition)
    }

    func drain(_ topic: Topic, _ partition: PartitionID, limit: Int) throws(LogFailure) -> [Record] {
        let log = world.cluster.log(topic, partition)
        guard !process.isDead, var reader = readers[log.place] else { return [] }
        if reader.hasGoneBack {
            hinder()
            throw .recreated(topic: topic, partition: partition, .wentBack(from: reader.position, to: log.start))
        }
        if world.plants(.stallOthers), world.cluster.logs.contains(where: { world.cluster.isAway($0) }) {
            world.tick(after: 500_000) { [self] in hear(log) }
            return []
        }
        if world.readFailsUntil > world.now, world.chance.isOne(in: 3) {
            world.count(.readFailed)
            hinder()
            throw .unavailable(reason: "reading failed")
        }
        var records = log.records(from: reader.position, below: reader.arrived, limit: limit)
        reader.position = records.last.map { $0.offset + 1 } ?? max(reader.position, reader.arrived)
        readers[log.place] = reader
        if world.plants(.dropJob), !topic.isFolded, !records.isEmpty, world.chance.isOne(in: 20) {
            records.removeLast()
        }
        if topic == .control, world.plants(.lateControl) {
            records = records.map {
                Record(
                    topic: topic, partition: partition, offset: $0.offset, timestamp: $0.timestamp + .seconds(20),
                    key: $0.key, value: $0.value, headers: $0.headers)
            }
        }
        if topic == .control {
            world.pauses.drained(records, partition, by: process)
            records = world.pauses.planted(records)
        }
        if topic == .parked, world.plants(.believeRow) || world.plants(.believeTombstone) {
            for place in records.indices {
                guard world.plants(records[place].value == nil ? .believeTombstone : .believeRow),
                    let epoch = world.parked.epoch(outliving: records[place])
                else { continue }
                let others = records[place].headers.filter { $0.name != EventHeader.epoch }
                records[place].headers = RecordHeaders(others + [RecordHeader(EventHeader.epoch, "\(epoch)")])
            }
        }
        if let last = records.last {
            world.note("drained", Int64(process.number), Int64(log.place), last.offset, Int64(records.count))
            if Topic.consumed.contains(topic) { world.lookAtMemory(of: log, process) }
        }
        return records
    }

    func position(_ topic: Topic, _ partition: PartitionID) -> Int64? {
        if topic == .parked, world.plants(.startEarly) { return .max }
        return readers[world.cluster.log(topic, partition).place]?.position
    }

    /// Records that were handed out to this owner, and that nobody has answered.
    func unanswered(_ log: TopicLog) -> Int {
        readers[log.place].map { log.unfinished(from: $0.first, below: $0.position) } ?? 0
    }

    func rewind(_ topic: Topic, _ partition: PartitionID, to offset: Int64) throws(LogFailure) {
        let log = world.cluster.log(topic, partition)
        guard !process.isDead, readers[log.place] != nil else { throw .closed }
        world.count(.rewound)
        world.note("rewound", Int64(process.number), Int64(log.place), offset)
        readers[log.place] = Reader(first: offset, position: offset, arrived: offset, incarnation: log.incarnation)
        hear(log)
    }

    func release(_ partition: PartitionID) {
        guard case .revoking(let held, var waiting) = phase else { return }
        waiting.remove(partition)
        // Its owner cannot tell how far it came before its first offsets are durable.
        if Topic.consumed.contains(where: { committed($0, partition) == nil }) {
            world.count(.leftEarly)
        } else if let epoch = epochs[partition] {
            world.ownerships.leave(Ownerships.Key(partition: partition, epoch: epoch))
        }
        epochs[partition] = nil
        phase = .revoking(held, waiting: waiting)
        if waiting.isEmpty { finishRevocation() }
    }

    /// Whether this process knows of nobody else who owns it.
    func holds(_ owner: Ownership) -> Bool { epochs[owner.partition] == owner.epoch }
    func epoch(of partition: PartitionID) -> Int64? { epochs[partition] }

    func stop() async {
        if process.isDead { return }
        if case .preparing = phase { decision += 1 }
        (phase, listener) = (.stopping, nil)
        await process.ask(or: ()) { done in commitLast(within: 10_000_000) { done(()) } }
        if process.isDead { return }
        phase = .stopped
        decision += 1
        releaseAll()
        world.group.leave(process)
    }

    func die() {
        let listener = listener
        (self.listener, phase) = (nil, .stopped)
        decision += 1
        listener?.failed(.closed)
        missed = []
    }
}
