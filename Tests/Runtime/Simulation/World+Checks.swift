internal import Canonical
internal import Clocks
internal import Digest
internal import Failures
internal import Hosts
internal import ImageModel
internal import Jobs
internal import Ledger
internal import Partition
internal import Permits
internal import Positions
internal import Records
internal import VariantSpec
internal import WorkerRuntime

/// What must hold all the time, and at the end.
extension World {
    /// A look at what cannot be told by one event.
    func lookSoon() {
        after(isCalm ? 4_000_000 : 2_000_000) { [self] in
            lookAtProgress()
            lookAtMemory()
            parked.look()
            parkedOrder.lookAtRoom()
            pauses.look()
            lookSoon()
        }
    }

    /// A partition that is left in peace answers something, as long as it has jobs that are due.
    private func lookAtProgress() {
        for partition in Cluster.partitions {
            let number = Int(partition.number)
            let limit = faults == [.away] ? Self.shortStillness : Self.stillness
            let waiting = Topic.lanes.compactMap { topic -> String? in
                // A job under a foreign key is done in the partition to which it is copied, and waits for that.
                let first = cluster.log(topic, partition).unfinished.first {
                    $0.home == partition || now - disturbedUntil[Int($0.home.number)] > limit
                }
                return first.map { "\(topic.rawValue) at \($0.offset)" }
            }
            if waiting.isEmpty || pauses.isActive(in: partition) { ledger.answeredAt[number] = max(ledger.answeredAt[number], now) }
            let since = max(ledger.answeredAt[number], disturbedUntil[number])
            if now - since > limit {
                fail(
                    .progress,
                    "partition \(partition) has answered nothing for \((now - since) / 1_000_000) s: \(waiting.joined(separator: ", ")); \(group.summary)"
                )
            }
        }
    }
    /// What any one thing may take: a rebalance, a look at the log, the stall of an origin, all waits before a last attempt.
    private static let stillness: Int64 = 60_000_000
    /// The same where only topics of other partitions are away.
    private static let shortStillness: Int64 = 40_000_000

    /// Of the worker's permits, after each moment in which one of its slow flights began.
    func lookAtLanes() {
        let slow = flights.slow
        flights.slow = []
        for process in slow where !process.isDead && !process.isPaused { lookAtLanes(of: process) }
    }

    private func lookAtLanes(of process: SimulatedProcess) {
        let scheduler = process.worker.assumeIsolated { $0.scheduler }
        let late = scheduler.late.all
        if late > 0 { count(.fetchLate) }
        if late > permits.late || scheduler.running(.fetch) - late > permits.fetch {
            fail(.permits, "worker \(process.number): \(scheduler.running(.fetch)) fetches, \(late) late")
        }
        let wall = process.machine.wall(at: now)
        for (flight, slow) in scheduler.entries.sorted(by: { $0.key < $1.key }) where slow.lane == .slow {
            for kind in slow.holds where process.began.insert(Began(flight: flight, kind: kind)).inserted {
                count(.slowBegan)
                if wall - slow.since >= Self.slowWait {
                    count(.slowAged)
                    continue
                }
                let ahead = scheduler.entries.filter { id, fast in
                    fast.lane == .fast && fast.waits == kind && fast.ticket <= slow.ticket
                        && isFree(id, fast, kind, scheduler)
                }
                if let ahead = ahead.keys.min() {
                    fail(.lanes, "worker \(process.number): \(flight) before \(ahead), \(kind)")
                }
            }
        }
    }

    /// Whether nothing but the lanes decides about a flight: neither its host nor its partition's log bars it.
    private func isFree(
        _ id: FlightID, _ fast: PermitScheduler.Entry, _ kind: PermitKind, _ scheduler: PermitScheduler
    ) -> Bool {
        if disturbedUntil[Int(id.partition.number)] + Self.aftermath > now { return false }
        guard kind == .fetch, let origin = scheduler.origins[fast.host] else { return true }
        // One of its flights may have begun and ended meanwhile.
        return origin.phase == .open && origin.inUse.all + 1 < origin.share
            && scheduler.hasRoom(fast.host, isSlow: false) && !scheduler.yielding.contains(fast.host)
    }

    /// The oldest slow flight that has waited too long goes before all fast ones, as soon as its host bears it.
    private func lookAtAge(of process: SimulatedProcess) {
        let wall = process.machine.wall(at: now)
        let scheduler = process.worker.assumeIsolated { $0.scheduler }
        let aged = scheduler.entries.filter { _, slow in
            slow.lane == .slow && slow.waits != nil && wall - slow.since >= Self.slowWait
                && (slow.waits == .render || scheduler.hasRoom(slow.host, isSlow: true))
        }
        guard let eldest = aged.min(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) }),
            let kind = eldest.value.waits,
            disturbedUntil[Int(eldest.key.partition.number)] + Self.aftermath < now
        else {
            process.eldest = nil
            return
        }
        let waiting = Began(flight: eldest.key, kind: kind)
        guard let known = process.eldest, known.waiting == waiting else {
            process.eldest = (waiting, now)
            return
        }
        if now - known.since > Self.agedWait {
            fail(
                .aged,
                "worker \(process.number): \(eldest.key) has waited for its \(kind) for \((now - known.since) / 1_000) ms since it was the oldest"
            )
        }
    }
    private static let agedWait: Int64 = 3_000_000

    /// As many records of a topic as are read ahead, and those that are answered while their answers wait for the log
    /// (`OwnedPartition.room`).
    private static func memoryLimit(answers: Int) -> Int {
        readAhead + min(readAhead, answers)
    }

    /// Of what an owner was given to read, after each time. Controls stand for long, and take no room of jobs: their number has
    /// the bound of a position's span, which no world reaches.
    func lookAtMemory(of log: TopicLog, _ process: SimulatedProcess) {
        if log.topic == .control { return }
        // Rows of `parked` that come too late finish nothing, and their writer does not know.
        guard owners(of: log.partition).contains(where: { $0 === process }) else { return }
        let unanswered = process.consumer.unanswered(log)
        // Its answers are seldom worth asking for.
        guard unanswered > Self.memoryLimit(answers: 0) else { return }
        let status = process.worker.assumeIsolated { $0.status }
        let answers = status.answers
        // A worker that does not know that its topic was recreated has not read the records before its position.
        let held = log.incarnation > 0 ? min(unanswered, status.unfinished[log.topic] ?? 0) : unanswered
        if held > Self.memoryLimit(answers: answers) {
            fail(
                .memory,
                "worker \(process.number) has \(held) records of \(log.topic.rawValue)-\(log.partition), and \(answers) answers on their way"
            )
        }
    }

    /// Of what it keeps by its own account.
    private func lookAtMemory() {
        for machine in machines {
            guard let process = machine.process, !process.isPaused else { continue }
            lookAtAge(of: process)
            let status = process.worker.assumeIsolated { $0.status }
            for (topic, unfinished) in status.unfinished.sorted(by: { $0.key.ordinal < $1.key.ordinal })
            where unfinished > status.owned.count * Self.memoryLimit(answers: Self.readAhead) {
                fail(
                    .memory,
                    "worker \(process.number): \(unfinished) records of \(topic.rawValue) in \(status.owned.count) partitions"
                )
            }
        }
    }

    /// All is answered, and no worker has anything to do.
    func checkEnd() {
        for partition in Cluster.partitions where owners(of: partition).count != 1 {
            fail(.waits, "partition \(partition) has \(owners(of: partition).count) owners")
        }
        checkChangelogs()
        do { try sayings.check(self) } catch { fail(.said, "\(error)") }
    }

    /// Those whom the group knows: a zombie may not have heard yet.
    func owners(of partition: PartitionID) -> [SimulatedProcess] {
        machines.compactMap(\.process).filter { group.isMember($0) && $0.consumer.owned.contains(partition) }
    }

    var isAllOwned: Bool { Cluster.partitions.allSatisfy { !owners(of: $0).isEmpty } }

    /// What readers of the changelog see is what its owners say, and stands in the store.
    private func checkChangelogs() {
        for partition in Cluster.partitions where !ownerships.blurred.contains(partition) {
            let log = cluster.log(.variants, partition)
            var valid: [[UInt8]: Record] = [:]
            var owner: Int64 = 0
            for entry in log.history {
                let isMark = RecordKey(entry.record.key).map { if case .epoch = $0 { true } else { false } } ?? false
                // Rows of an owner whose time is over do not count, whatever their headers say.
                if let writer = entry.owner, writer < owner { continue }
                if isMark, let writer = entry.owner { owner = max(owner, writer) }
                valid[entry.record.key] = entry.record
            }
            var seen: [[UInt8]: Record] = [:]
            for entry in log.entries { seen[entry.record.key] = entry.record }
            check(seen, valid, partition)
        }
    }

    private func check(_ seen: [[UInt8]: Record], _ valid: [[UInt8]: Record], _ partition: PartitionID) {
        var sources: [SourceKey: SourceSnapshot] = [:]
        for (key, record) in valid.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard let entry = try? ChangelogEntry(record), case .change(let change) = entry else { continue }
            let live = seen[key].flatMap { try? ChangelogEntry($0) }
            // A tombstone may be gone, and its row with it.
            let isDropped = record.value == nil && live == nil
            if !isDropped, live != entry {
                fail(.fenced, "partition \(partition): \(String(decoding: key.suffix(24), as: UTF8.self))")
            }
            sources.apply(change)
            if case .variant(let row) = change { check(row) }
        }
        guard let index = owners(of: partition).first?.indexes[partition] else { return }
        for (source, rows) in sources where !rows.isEmpty {
            let held = index.file.rows[source] ?? SourceSnapshot()
            if held.source != rows.source || Set(held.variants) != Set(rows.variants) {
                let names = { (rows: SourceSnapshot) in
                    rows.variants.map { "\($0.spec) \($0.version) \(($0.expires - World.begin).milliseconds)" }.sorted()
                        + [
                            rows.source.map { "source \($0.version) \(($0.expires - World.begin).milliseconds) \($0.original ?? "-")" }
                                ?? "-"
                        ]
                }
                fail(.index, "partition \(partition), \(source.hex.prefix(8)): \(names(held)), not \(names(rows))")
            }
        }
    }

    /// A variant that is announced is in the store, with its bytes.
    private func check(_ row: VariantRow) {
        if shelf.destroyed.contains(row.location) { return }
        guard let bytes = shelf.blobs[row.location] else { return fail(.stored, "\(row.location) is gone") }
        if SHA256.digest(of: bytes) != row.digest { fail(.stored, "\(row.location) has other bytes than its row says") }
    }
}

/// A permit that a flight was seen with.
struct Began: Hashable {
    let flight: FlightID
    let kind: PermitKind
}

extension Record {
    /// The partition that owns the source of a job.
    fileprivate var home: PartitionID {
        guard case .job(let source)? = RecordKey(key) else { return partition }
        return source.partition(of: Cluster.partitionCount)
    }
}

extension SourceSnapshot {
    fileprivate var isEmpty: Bool { source == nil && variants.isEmpty }
}

extension [SourceKey: SourceSnapshot] {
    mutating func apply(_ change: IndexChange) {
        var rows = self[change.source] ?? SourceSnapshot()
        switch change {
        case .source(let row): rows.source = row
        case .variant(let row):
            rows.variants.removeAll { $0.spec == row.spec }
            rows.variants.append(row)
        case .dropSource: rows.source = nil
        case .dropVariant(_, let spec): rows.variants.removeAll { $0.spec == spec }
        }
        self[change.source] = rows
    }
}
