internal import Canonical
internal import Clocks
internal import Failures
internal import ImageModel
internal import MemoryIndex
internal import Ports
internal import Records

/// Parked jobs: rows that owners write, and what must become of each.
///
/// Few jobs of the lanes wait here. So further rows are appended in the name of the owner who opened `parked` last, by a
/// chance of their own.
final class Parked {
    unowned(unsafe) let world: World
    private var chance: Chance
    private var published = 0
    /// By partition: who opened `parked` last, and the epoch of that row.
    private var openers: [PartitionID: (owner: Ownerships.Key, written: Int64)] = [:]
    /// When each owner's epoch row was appended, microseconds.
    private var marks: [Ownerships.Key: Int64] = [:]
    /// By job: when a tombstone that counts was appended.
    private var deleted: [String: Int64] = [:]
    /// By job: its last outcome.
    private var outcomes: [String: (owner: Ownerships.Key, time: Int64)] = [:]
    private var lanes: [String: Lane] = [:]
    /// Jobs with an outcome that is in the log without its owner knowing.
    private var doubted: Set<String> = []
    /// By partition: epoch rows that count, with their offsets, and the offsets of records that came too late.
    private var fences: [PartitionID: [(offset: Int64, epoch: Int64)]] = [:]
    private var late: [PartitionID: Set<Int64>] = [:]
    /// Jobs by the key of their row.
    private var ids: [[UInt8]: String] = [:]

    init(_ world: World, seed: UInt64) { (self.world, chance) = (world, Chance(seed: seed ^ 0x5041_524B)) }

    func publishSoon() {
        guard !chance.isOne(in: 4) else { return }
        for _ in 0..<8 {
            world.after(chance.within(1_000_000...50_000_000)) { [self] in
                if world.publishes { for _ in 0...chance.below(6) { publish() } }
            }
        }
    }

    private func publish() {
        let source = world.catalogue.sources[24 + chance.below(Origins.sourceCount - 24)]
        guard let opener = openers[source.partition] else { return }
        published += 1
        world.count(.parked)
        let id = "parked-\(published)"
        let now = world.wall
        let expires: WallTime? = chance.isOne(in: 4) ? now + .milliseconds(chance.within(0...8_000)) : nil
        let job = Job(
            id: id, url: source.url, source: source.key, variants: world.catalogue.wishes[published % 5],
            lane: chance.isOne(in: 3) ? .slow : .fast, expires: expires)
        let host = OriginHost(of: source.url.fetched)
        let note = RetryNote(
            job: id, lane: job.lane, attempt: 0,
            notBefore: chance.isOne(in: 2) ? .epoch : now + .milliseconds(chance.within(0...5_000)),
            firstSeen: now - .milliseconds(chance.within(0...20_000)),
            cause: FailureNote(RetryCause.hostCrowded(host: host.description)),
            origin: RecordOrigin(topic: .jobs(job.lane), partition: source.partition, offset: 0))
        let row = ParkedRow(
            source.key, JobIdentity(ofOwn: id), note, host: host, worksAs: job.lane, ends: expires, body: job.body)
        ids[row.key.bytes] = id
        lanes[id] = job.lane
        let log = world.cluster.log(.parked, source.partition)
        let record = row.newRecord(partition: source.partition, at: now).announced(in: opener.written)
        _ = world.ledger.land(record, in: log, epoch: opener.owner.epoch, by: nil)
        world.cluster.announce(log)
    }

    /// The epoch in which a record of a fenced owner would count; nil for other records.
    func epoch(outliving record: Record) -> Int64? {
        guard late[record.partition]?.contains(record.offset) == true else { return nil }
        return fences[record.partition]?.last { $0.offset < record.offset }?.epoch
    }

    func lane(of id: String) -> Lane? { lanes[id] }

    /// A record of `parked` is in the log.
    func landed(_ new: NewRecord, _ log: TopicLog, _ offset: Int64, _ writer: Int64?, _ epoch: Int64?) {
        let counts = writer ?? 0 >= log.newestOwner
        switch RecordKey(new.key) {
        case .epoch:
            guard counts, let epoch, let entry = log.entry(at: offset), case .epoch(let row)? = try? ParkedEntry(entry.record)
            else { return }
            world.count(.parkedMarked)
            log.newestOwner = max(log.newestOwner, writer ?? 0)
            let owner = Ownerships.Key(partition: log.partition, epoch: epoch)
            openers[log.partition] = (owner, row.epoch)
            fences[log.partition, default: []].append((offset, row.epoch))
            if marks[owner] == nil { marks[owner] = world.now }
        case .parked where !counts:
            world.count(.parkedTooLate)
            late[log.partition, default: []].insert(offset)
        case .parked where new.value != nil:
            if let id = new.headers.withFirst(EventHeader.id, { String(decoding: $0, as: UTF8.self) }) {
                ids[new.key] = id
                deleted[id] = nil
            }
        case .parked:
            guard let id = ids[new.key], deleted[id] == nil else { return }
            world.count(.unparked)
            deleted[id] = world.now
            if world.ledger.isAnswered(id) { return }
            let rows = log.entries.filter { $0.record.key == new.key && $0.record.value != nil }
            if rows.allSatisfy({ late[log.partition]?.contains($0.record.offset) == true }) {
                // Nobody owned the partition for longer than the compaction's lag. Compaction kept the row of a fenced owner
                // and removed the valid one.
                world.ledger.excuse(rows)
            } else {
                world.fail(.parkedEnd, "the row of \(id) is deleted, and it has no outcome")
            }
        default: break
        }
    }

    /// The tombstone of the parked job that a record completes.
    func drop(endedBy record: NewRecord) -> NewRecord? {
        guard record.topic == .outcomes,
            let id = record.headers.withFirst(EventHeader.id, { String(decoding: $0, as: UTF8.self) }),
            let key = ids.first(where: { $0.value == String(id.dropLast("/outcome".count)) })?.key,
            let opener = openers[record.partition]
        else { return nil }
        let drop = NewRecord(topic: .parked, partition: record.partition, key: key, value: nil)
        return drop.announced(in: opener.written)
    }

    /// Who appended these was not told that they are in the log.
    func doubt(_ records: [NewRecord]) {
        for record in records where record.topic == .outcomes {
            let id = record.headers.withFirst(EventHeader.id) { String(decoding: $0, as: UTF8.self) } ?? ""
            doubted.insert(String(id.dropLast("/outcome".count)))
        }
    }

    /// A parked job has an outcome.
    func answered(_ id: String, by owner: Ownerships.Key) {
        guard id.hasPrefix("parked-") else { return }
        // The tombstone of an owner whose time is over does not count, and the owner after it need not read its outcomes.
        let newest = world.cluster.log(.parked, owner.partition).newestOwner
        if world.ownerships.rank(owner) ?? 0 < newest { return }
        // What its owners had read went with the changelog.
        if world.cluster.log(.variants, owner.partition).isRecreated { return }
        if let last = outcomes.updateValue((owner, world.now), forKey: id) {
            if last.owner == owner, !doubted.contains(id) {
                return world.fail(.parkedStart, "\(id) is answered twice by one owner")
            }
            if last.owner != owner, world.ownerships.couldRead(.outcomes, at: last.time, owner) {
                return world.fail(.parkedStart, "\(id) is answered again by an owner who could read its outcome")
            }
        }
        guard let mark = marks[owner] else {
            return world.fail(.parkedStart, "\(id) is answered by an owner who has not opened `parked`")
        }
        if let time = deleted[id], time < mark {
            world.fail(.parkedStart, "\(id) is answered again by an owner who could read that its row is deleted")
        }
    }

    /// The tables of owners that have read all that was there are the fold of what counts.
    func look() {
        for process in world.machines.compactMap(\.process) where !process.isPaused && !process.isDead {
            for partition in process.consumer.owned {
                guard let index = process.indexes[partition], let position = index.parkedCheckpoint?.position,
                    position == process.consumer.position(.parked, partition)
                else { continue }
                let log = world.cluster.log(.parked, partition)
                // A table that is restored from a compacted log passes positions at which it never was.
                guard log.history.last.map({ $0.record.offset < position }) ?? true else { continue }
                world.count(.parkedLookedAt)
                let valid = Self.fold(log.history.lazy.filter { $0.record.offset < position })
                let held = Dictionary(uniqueKeysWithValues: index.file.parked.jobs.map { ($0.bytes, $1.offset) })
                // While a late record waits to be republished, the file names a position before rows that it has.
                if valid != held, held.values.allSatisfy({ $0 < position }) {
                    let differing = Set(valid.keys).union(held.keys).filter { valid[$0] != held[$0] }
                    let names = differing.map { "\(ids[$0] ?? "-"): \(held[$0] ?? -1), not \(valid[$0] ?? -1)" }.sorted()
                    world.fail(.index, "the parked jobs of partition \(partition), worker \(process.number): \(names)")
                }
            }
        }
    }

    /// The offset of each row that counts: all but what an owner wrote after a later owner had opened `parked`.
    private static func fold(_ entries: some Sequence<TopicLog.Entry>) -> [[UInt8]: Int64] {
        var rows: [[UInt8]: Int64] = [:]
        var owner: Int64 = 0
        for entry in entries {
            guard let writer = entry.owner, writer >= owner, let key = RecordKey(entry.record.key) else { continue }
            switch key {
            case .epoch: owner = writer
            case .parked: rows[entry.record.key] = entry.record.value == nil ? nil : entry.record.offset
            default: break
            }
        }
        return rows
    }
}
