internal import Canonical
internal import Clocks
internal import ImageModel
internal import Ports
internal import Records
internal import VariantSpec

/// What was appended, and what that means: which jobs are accepted, which records are finished, which jobs answered.
final class Ledger {
    unowned(unsafe) let world: World
    private(set) var fates: [Fate] = []
    private var byID: [String: Fate] = [:]
    /// Keys of the changelog that ever had a row.
    private var rowKeys: Set<[UInt8]> = []
    /// The last value of each row that counts, and rows that came too late since.
    private var valid: [[UInt8]: [UInt8]] = [:]
    private var late: Set<[UInt8]> = []
    var kept: [PartitionID: Kept] = [:]
    /// What was told last of a host, by the row's key.
    private var hosts: [[UInt8]: OriginRow.State] = [:]
    private(set) var unanswered = 0
    /// By partition: when something was last answered there, microseconds.
    var answeredAt = [Int64](repeating: 0, count: Cluster.partitionCount)

    /// One job, from its first record to its answers.
    final class Fate {
        let id: String
        let partition: PartitionID
        var records: [(log: TopicLog, offset: Int64, serial: Int)] = []
        var first: Record?
        var attempts = 0
        /// The simulator took a record of it away: it may be answered or not.
        var isExcused = false
        var answers: [Ownerships.Answer] = []
        var deadLetters: [Ownerships.Answer] = []

        init(_ id: String, _ partition: PartitionID) { (self.id, self.partition) = (id, partition) }
    }

    init(_ world: World) { self.world = world }

    func land(_ new: NewRecord, in log: TopicLog, epoch: Int64?, by process: SimulatedProcess?) -> Int64 {
        var attempt = 0
        let id = new.headers.withFirst(EventHeader.id) { String(decoding: $0, as: UTF8.self) } ?? ""
        let gap: Int64 = world.chance.isOne(in: 12) && world.hasGaps ? 1 : 0
        if gap > 0 { world.count(.gap) }
        let written = new.headers.withFirst(EventHeader.epoch) { Int64(String(decoding: $0, as: UTF8.self)) } ?? nil
        let owner = epoch.flatMap {
            world.ownerships.rank(
                Ownerships.Key(partition: log.partition, epoch: $0), written: written, at: log.end + gap, in: log)
        }
        if let owner, owner < log.newestOwner { world.count(.zombieLanded) }
        switch log.topic {
        case .jobs:
            if process != nil {
                world.count(.rekeyed)
                world.controls.rekeyed(id)
                finish(byID[id], upTo: 0)
            }
        case .outcomes where new.isOfControl: ended(new, log.partition, epoch, isOld: owner.map { $0 < log.newestOwner } ?? true)
        case .outcomes: answered(new, String(id.dropLast("/outcome".count)), log.partition, epoch, by: process)
        case .dead:
            world.count(.deadLetter)
            if let deadLetter = answer(new, log.partition, epoch) { byID[id]?.deadLetters.append(deadLetter) }
        case .events: world.promises.tell(new, id, isOld: isOld(epoch, log.partition))
        case .parked where process != nil && new.value != nil:
            // A row that comes too late finishes nothing.
            if case .parked? = RecordKey(new.key), owner ?? 0 >= log.newestOwner { attempt = retried(new, id) }
        case .variants, .parked, .origins, .control: break
        case .retry, .retry10s, .retry1m, .retry10m, .retry1h: world.fail(.answered, "\(log.topic.rawValue) is written")
        }
        let time = world.wall
        let offset = log.append(new, owner: owner, at: time, gap: gap, attempt: attempt)
        world.note(
            "landed", Int64(log.place), offset, Int64(process?.number ?? -1), text: "\(log.topic.rawValue) \(id) \(new.headers.withFirst(EventHeader.code) { String(decoding: $0, as: UTF8.self) } ?? "")")
        switch log.topic {
        case .jobs: accept(id, log, offset)
        case .control:
            accept(ControlLog.id(id, log.partition), log, offset)
            if let entry = log.entry(at: offset) {
                world.controls.landed(entry.record)
                world.pauses.landed(entry.record)
            }
        case .variants: announced(new, log, offset, owner, epoch ?? 0)
        case .parked: parked(new, id, log, offset, owner, epoch, by: process)
        case .origins: if let entry = log.entry(at: offset) { told(entry.record, by: process) }
        default: break
        }
        return offset
    }

    private func parked(
        _ new: NewRecord, _ id: String, _ log: TopicLog, _ offset: Int64, _ writer: Int64?, _ epoch: Int64?,
        by process: SimulatedProcess?
    ) {
        if new.value != nil, case .parked? = RecordKey(new.key), writer ?? 0 >= log.newestOwner { accept(id, log, offset) }
        world.parked.landed(new, log, offset, writer, epoch)
    }

    func isAnswered(_ id: String) -> Bool { byID[id]?.first != nil }

    /// What a worker tells of a host.
    private func told(_ record: Record, by process: SimulatedProcess?) {
        guard let row = OriginRow(record) else { return }
        if row.slot != nil {
            if let process, !world.group.isMember(process) { world.flights.excuse(row.host) }
            return world.count(.slotPassed)
        }
        let state = hosts.updateValue(row.state, forKey: record.key) ?? .open
        guard row.state != state else { return }
        switch row.state {
        case .open: world.count(.hostOpened)
        case .slowed: world.count(.hostSlowed)
        case .blocked: world.count(.hostBlocked)
        case .probing: world.count(.hostProbed)
        }
    }

    /// Whether somebody else owns the partition by now.
    private func isOld(_ epoch: Int64?, _ partition: PartitionID) -> Bool {
        let changelog = world.cluster.log(.variants, partition)
        let owner = epoch.flatMap {
            world.ownerships.rank(Ownerships.Key(partition: partition, epoch: $0), at: changelog.end, in: changelog)
        }
        return owner ?? 0 < changelog.newestOwner
    }

    /// The lane that a job was published to; nil: a worker's own.
    func lane(of id: String) -> Lane? { byID[id]?.records.first?.log.topic.lane }

    private func accept(_ id: String, _ log: TopicLog, _ offset: Int64) {
        let fate: Fate
        if let known = byID[id] {
            fate = known
        } else {
            fate = Fate(id, log.partition)
            byID[id] = fate
            fates.append(fate)
            world.promises.accept(id)
            unanswered += 1
            if let entry = log.entry(at: offset), log.topic != .control { world.controls.accepted(id, entry.record) }
        }
        fate.records.append((log, offset, log.appended))
        if log.replacedForGood { excuseReplaced(in: log) }
    }

    /// A log was truncated and has grown over its old end. Who read its old records goes on behind the new ones in silence:
    /// Kafka's client of this age tells nothing, and a look finds a record that it read before the truncation only if it
    /// is the last one. An owner that ended badly left no such record behind.
    func excuseReplaced(in log: TopicLog, below position: Int64 = .max, forGood: Bool = false) {
        if forGood { log.replacedForGood = true }
        excuse(log, log.replacing.filter { $0.record.offset < position })
    }

    /// Nobody reads the records of a log before an offset.
    func excuse(_ log: TopicLog, below offset: Int64) {
        excuse(log, log.entries.filter { $0.record.offset < offset && !$0.isFinished })
    }

    private func excuse(_ log: TopicLog, _ entries: [TopicLog.Entry]) {
        excuse(entries)
        for entry in entries { log.finish(entry.record.offset, entry.serial) }
    }

    /// Answers are in the log, and those who appended them are not told.
    func doubt(_ records: [NewRecord]) {
        for record in records where record.topic == .outcomes || record.topic == .dead {
            let id = record.headers.withFirst(EventHeader.id) { String(decoding: $0, as: UTF8.self) } ?? ""
            if record.topic == .dead {
                byID[id]?.deadLetters.doubtLast()
            } else if record.isOfControl {
                byID[ControlLog.id(endedBy: record)]?.answers.doubtLast()
            } else {
                byID[String(id.dropLast("/outcome".count))]?.answers.doubtLast()
            }
        }
    }

    private func finish(_ fate: Fate?, upTo attempt: Int) {
        guard let fate else { return }
        for (log, offset, serial) in fate.records { log.finish(offset, serial, upTo: attempt) }
    }

    private func retried(_ new: NewRecord, _ id: String) -> Int {
        func text(_ name: String) -> String {
            new.headers.withFirst(name) { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        let attempt = Int(text(EventHeader.attempt)) ?? 0
        let code = text(EventHeader.code)
        guard let fate = byID[id] else { return attempt }
        if new.headers[EventHeader.host] != nil { world.count(.awaitedElsewhere) }
        world.count(code == "retry.slow" ? .movedAside : attempt > fate.attempts ? .retried : .waited)
        if attempt >= World.attempts { world.fail(.attempts, "\(id) is to be tried for the \(attempt + 1). time") }
        if world.isHarmless, attempt < fate.attempts {
            world.fail(.attempts, "\(id) had \(fate.attempts) attempts, and now \(attempt)")
        }
        fate.attempts = max(fate.attempts, attempt)
        finish(fate, upTo: attempt)
        answeredAt[Int(fate.partition.number)] = world.now
        return attempt
    }

    private func answered(
        _ new: NewRecord, _ id: String, _ partition: PartitionID, _ epoch: Int64?, by process: SimulatedProcess?
    ) {
        guard let fate = byID[id] else { return world.fail(.answered, "an outcome of an unknown job: \(id)") }
        let record = Record(
            topic: .outcomes, partition: partition, offset: 0, timestamp: .epoch, key: new.key, value: new.value,
            headers: new.headers)
        answeredAt[Int(partition.number)] = world.now
        finish(fate, upTo: .max)
        guard let report = try? OutcomeReport(record) else { return world.fail(.answered, "\(id): no report") }
        world.controls.answered(id, report, by: Ownerships.Key(partition: partition, epoch: epoch ?? 0))
        world.poisonJobs.answered(id, report)
        world.parked.answered(id, by: Ownerships.Key(partition: partition, epoch: epoch ?? 0))
        world.hopeless.answered(id, report)
        world.promises.answered(id, report, isOld: isOld(epoch, partition))
        let answer = answer(new, partition, epoch)
        if fate.first == nil {
            fate.first = record
            unanswered -= 1
            count(report.kind)
        } else {
            world.count(.answeredAgain)
            let objection = answer.flatMap { world.ownerships.objection(to: $0, answered: fate.answers) }
            if let objection = world.isHarmless ? "nothing went wrong" : objection {
                world.fail(.repeated, "\(id) is \(report.kind.rawValue) now, and \(objection)")
            }
        }
        if report.kind != .dead,
            let objection = answer.flatMap({ world.ownerships.objection(to: $0, answered: fate.deadLetters) })
        {
            world.fail(.repeated, "\(id) is \(report.kind.rawValue), has a dead letter, and \(objection)")
        }
        if let answer { fate.answers.append(answer) }
        guard let source = report.source, let process else { return }
        // What stands in for another has a row of its own.
        for variant in report.variants where variant.kind != .failed && variant.kind != .degraded {
            if !rowKeys.contains(RecordKey.variant(source, variant.spec).bytes) {
                world.fail(.order, "\(id): \(variant.spec) is in no row")
            }
            check(variant, source, partition, process, id)
        }
    }

    /// A control has its outcome in a partition.
    private func ended(_ new: NewRecord, _ partition: PartitionID, _ epoch: Int64?, isOld: Bool) {
        let id = ControlLog.id(endedBy: new)
        guard let fate = byID[id] else {
            return world.fail(.answered, "an outcome of an unknown control: \(id)")
        }
        finish(fate, upTo: .max)
        let answer = answer(new, partition, epoch)
        if fate.first == nil {
            fate.first = Record(
                topic: .outcomes, partition: partition, offset: 0, timestamp: .epoch, key: new.key, value: new.value,
                headers: new.headers)
            unanswered -= 1
            if !isOld { world.controls.ended(id, open: open) }
        } else if let objection = answer.flatMap({ world.ownerships.objection(to: $0, answered: fate.answers) }) {
            world.fail(.repeated, "the control \(id) is over again, and \(objection)")
        }
        if let answer { fate.answers.append(answer) }
    }

    private func answer(_ new: NewRecord, _ partition: PartitionID, _ epoch: Int64?) -> Ownerships.Answer? {
        let record = Record(
            topic: new.topic, partition: partition, offset: 0, timestamp: .epoch, key: [], value: nil,
            headers: new.headers)
        guard let answered = CompletedRecord(completedBy: record) else { return nil }
        let owner = Ownerships.Key(partition: partition, epoch: epoch ?? 0)
        return Ownerships.Answer(record: answered, topic: new.topic, owner: owner, time: world.now)
    }

    /// Variants that a job announced stand in the index, as long as its partition does not leave. Those that a job only found
    /// there may be gone by now: a damaged one is removed and made again.
    private func check(
        _ variant: OutcomeReport.Variant, _ source: SourceKey, _ partition: PartitionID, _ process: SimulatedProcess,
        _ id: String
    ) {
        guard variant.kind == .stored || variant.kind == .reused, case .owning = process.consumer.phase,
            let location = variant.location,
            !world.shelf.destroyed.contains(location), let index = process.indexes[partition],
            world.counts[.indexDamaged] + world.counts[.indexAway] + world.counts[.paused] == 0,
            !world.cluster.log(.variants, partition).isRecreated
        else { return }
        if index.file.rows[source]?.variants.contains(where: { $0.spec == variant.spec }) != true {
            world.fail(.order, "\(id): \(variant.spec) is answered, and not in the index")
        }
    }

    private func count(_ kind: OutcomeKind) {
        let happening: Happening =
            switch kind {
            case .stored: .stored
            case .reused: .reused
            case .unchanged: .unchanged
            case .failed: .failed
            case .expired: .expired
            case .dead: .dead
            case .cancelled: .cancelled
            case .stale: .stale
            case .degraded: .degraded
            }
        world.count(happening)
    }

    private func announced(_ new: NewRecord, _ log: TopicLog, _ offset: Int64, _ writer: Int64?, _ epoch: Int64) {
        switch RecordKey(new.key) {
        case .epoch:
            guard let entry = log.entry(at: offset), case .epoch(let row)? = try? ChangelogEntry(entry.record) else {
                return
            }
            world.count(row.isClean ? .leftClean : .marked)
            let owner = Ownerships.Key(partition: log.partition, epoch: epoch)
            log.newestOwner = max(log.newestOwner, writer ?? 0)
            if row.isClean { world.ownerships.leave(owner) } else { world.ownerships.mark(owner) }
        case .progress:
            world.count(.progressWritten)
            guard let entry = log.entry(at: offset), case .progress(let row)? = try? ChangelogEntry(entry.record) else {
                return
            }
            // An owner whose time is over may take a row of `parked` for its job's, though it came too late. Nobody believes a
            // row in a changelog that nobody has opened.
            if log.newestOwner > 0, writer ?? 0 >= log.newestOwner {
                check(row)
                world.ownerships.note(row)
            }
            handOver(row)
        case .variant:
            world.count(new.value == nil ? .rowDropped : .rowStored)
            rowKeys.insert(new.key)
            note(new, writer, log)
        case .source:
            world.count(.sourceStored)
            note(new, writer, log)
        default: break
        }
    }

    /// Partitions change hands now and then while something is finished ahead of an offset: only the row tells of it.
    private func handOver(_ row: ProgressRow) {
        guard row.topics.values.contains(where: { !$0.finished.isEmpty }), world.chance.isOne(in: 12) else { return }
        world.after(world.chance.within(0...100_000)) { [world] in if !world.isCalm { world.group.rebalance() } }
    }

    /// What an owner says once more, since another wrote after its time, is what was valid before.
    private func note(_ new: NewRecord, _ writer: Int64?, _ log: TopicLog) {
        guard writer ?? 0 >= log.newestOwner else {
            late.insert(new.key)
            return
        }
        if late.remove(new.key) != nil, valid[new.key] == new.value { world.count(.republished) }
        valid[new.key] = new.value
    }

    private func check(_ row: ProgressRow) {
        world.note(
            "progress", Int64(row.partition.number), row.isClean == true ? 1 : 0, Int64(row.crashes),
            text: row.quarantined.map { "\($0.topic.rawValue) \($0.offset) \($0.crashes) \($0.begun?.rawValue ?? "-")" }
                .joined(separator: ", "))
        for (topic, progress) in row.topics.sorted(by: { $0.key.ordinal < $1.key.ordinal }) {
            let log = world.cluster.log(topic, row.partition)
            guard log.incarnation == 0 else { continue }
            check(committed: progress.next, of: log)
            for offset in progress.finished where log.entry(at: offset)?.isFinished == false {
                world.fail(.committable, "a progress row has \(topic.rawValue)-\(row.partition)-\(offset) as finished")
            }
        }
    }

    func check(committed offset: Int64, of log: TopicLog) {
        guard log.incarnation == 0, Topic.consumed.contains(log.topic) else { return }
        let first = log.firstUnfinished
        if offset > first {
            world.fail(.committable, "\(log.topic.rawValue)-\(log.partition): \(offset), and \(first) is not finished")
        }
    }

    /// The simulator took these records away, or lets nobody read them.
    func excuse(_ entries: [TopicLog.Entry]) {
        for entry in entries where !entry.isFinished {
            var id = entry.record.headers.withFirst(EventHeader.id) { String(decoding: $0, as: UTF8.self) } ?? ""
            if entry.record.topic == .control { id = ControlLog.id(id, entry.record.partition) }
            guard let fate = byID[id], !fate.isExcused else { continue }
            fate.isExcused = true
        }
    }

    var isOpen: Bool { unanswered > 0 && fates.contains { $0.first == nil && !$0.isExcused } }
    /// Jobs that nobody has answered and nobody is excused from.
    var open: [Fate] { fates.filter { $0.first == nil && !$0.isExcused } }
}
