internal import Clocks
internal import Failures
internal import Jobs
internal import Ledger
internal import Partition
internal import Permits
internal import Ports
internal import Positions
internal import Quarantine
internal import Records
internal import Telemetry

/// Progress of partitions, which outlives their owner: where reading begins, and the progress rows for the next owner.
/// It includes the checks whether a topic's log is still the same one.
extension Worker {
    /// Checks the logs of the topics that are due.
    func look(at owned: OwnedPartition) {
        lookAtFolded(of: owned)
        guard owned.isRestored, !owned.isLeaving, owned.outcomeTail != nil else { return beginLooks() }
        for topic in Topic.consumed where owned.watches[topic].beginLook(at: monotonic) {
            let isFirst = owned.state.progress(topic) == nil
            var progress = isFirst ? owned.leftTopics[topic] : progress(topic, owned)
            if !isFirst, !owned.watches[topic].readsFingerprint { progress?.fingerprint = nil }
            looks.ask(
                LogLook(
                    owner: owned.ownership, progress: progress, isFirst: isFirst,
                    point: LogPoint(topic, owned.id, progress?.fingerprint?.offset)))
        }
        beginLooks()
    }

    /// Sends one question for all waiting checks, because each costs the brokers a round trip.
    func beginLooks() {
        guard let asked = looks.begin() else { return }
        tasks.yield {
            let sights = await self.ports.log.sights(at: asked.map(\.point))
            await self.looked(zip(asked, sights))
        }
    }

    private func looked(_ found: Zip2Sequence<[LogLook], [Result<LogSight, LogFailure>]>) {
        looks.end()
        for (look, sight) in found {
            guard let owned = owned(by: look.owner) else { continue }
            do throws(LogFailure) { try looked(look, try sight.get(), owned) } catch {
                owned.watches[look.point.topic].failed(at: monotonic)
                note(error, of: owned.id)
            }
        }
        beginLooks()
        turnSoon()
    }

    private func looked(_ found: LogLook, _ sight: LogSight, _ owned: OwnedPartition) throws(LogFailure) {
        let topic = found.point.topic
        if owned.watches[topic].isOutdated() { return look(at: owned) }
        if topic.isFolded { return lookedAtFolded(topic, found, sight, owned) }
        let proof = owned.watches[topic].proof
        if !found.isFirst, proof == nil, found.progress?.breakIn(sight.bounds, fingerprinted: sight.timestamp) == nil {
            owned.watches[topic].found(at: monotonic)
            let isDrained = !owned.readable.contains(topic)
            let position = ports.consumer.position(topic, owned.id)
            if let lost = owned.watches[topic].expired(
                below: sight.bounds.lowerBound, isDrained: isDrained, position: position)
            {
                tell(.expired(Int64(lost.count)), topic, owned, first: lost.upperBound)
            }
            // Records that were finished while the log was suspected.
            if let next = owned.state.committable(topic), next > ports.consumer.committed(topic, owned.id) ?? -1 {
                commit(topic, below: next, of: owned)
            }
            return
        }
        // If the log still has the fingerprint, it must also have the last record that was read, because the group's
        // offset is not lower.
        if found.isFirst, proof == nil, let next = found.afterFingerprint(sight) { return looks.ask(next) }
        let committed = ports.consumer.committed(topic, owned.id)
        let start = StartingPoint(
            after: found.progress, committed: committed, bounds: sight.bounds, fingerprinted: sight.timestamp,
            completed: owned.outcomeTail?.completed(topic) ?? [:],
            completedBelow: owned.outcomeTail?.completedBelow(topic) ?? OffsetSet(), proof: proof)
        tell(start.finding, topic, owned, first: start.position)
        var isNewLog = false
        if case .anotherLog = start.finding {
            isNewLog = true
            try ports.consumer.restart(topic, owned.id, at: start.position)
        } else {
            // The log's own reading began at the group's offset.
            if start.position != committed ?? sight.bounds.lowerBound {
                try ports.consumer.rewind(topic, owned.id, to: start.position)
            }
            // Lag is computed from committed offsets, so there is one from the beginning.
            if committed ?? -1 < start.position { ports.consumer.commit(topic, owned.id, below: start.position) }
        }
        owned.state.begin(
            topic, at: start.position, finished: start.finished, completed: start.completed,
            deadLetters: start.isNew ? [:] : owned.outcomeTail?.deadLetters(topic) ?? [:], isNewLog: isNewLog)
        if topic == .control, owned.controlsEnd == nil { owned.controlsEnd = sight.bounds.upperBound }
        owned.outcomeTail?.drop(topic)
        owned.reported.begin(topic, start.finding)
        owned.watches[topic].begin(fingerprint: start.fingerprint, from: start.position, at: monotonic)
        owned.readable.insert(topic)
    }

    /// Commits, unless the topic's log may be another one: the offset would skip its records.
    func commit(_ topic: Topic, below offset: Int64, of owned: OwnedPartition) {
        if owned.isOpen(topic) { ports.consumer.commit(topic, owned.id, below: offset) }
    }

    private func tell(
        _ finding: StartingPoint.Finding, _ topic: Topic, _ owned: OwnedPartition, first position: Int64
    ) {
        switch finding {
        case .none: break
        case .anotherLog(let why):
            report(LogFailure.recreated(topic: topic, partition: owned.id, why), of: owned.id)
        case .expired(let count):
            let before = owned.lost.flatMap { $0.isRecent(at: now) ? $0.records : nil } ?? 0
            owned.lost = ProgressRow.Lost(records: min(ProgressRow.Lost.most, before + min(ProgressRow.Lost.most, count)), at: now)
            // Counted once for each lost record.
            let failure = LogFailure.expired(topic: topic, partition: owned.id, count: count, first: position)
            report(failure, of: owned.id, times: Int(count))
        case .skip(let count):
            logger.warning(
                "The committed offset of \(topic.rawValue), partition \(owned.id), is \(position), and \(count) records below it have no answer in the log. They are not read. If someone set the offset forward, set it back to run those jobs. Otherwise they were mis-keyed and run in another partition, or they are transaction markers.",
                ["partition": .string("\(owned.id)")])
        case .forgotten(let from):
            logger.warning(
                "The group's offset of \(topic.rawValue), partition \(owned.id), was \(from) and is there no more: it expired, or someone deleted it. The worker continues at \(position), its own recorded position, and nothing is lost. Set offsets.retention.minutes of the brokers to more than workers may be away.",
                ["partition": .string("\(owned.id)")])
        case .reset(let from):
            logger.warning(
                "The committed offset of \(topic.rawValue), partition \(owned.id), was set back from \(from) to \(position): its jobs are done again.",
                ["partition": .string("\(owned.id)")])
        }
    }

    /// Suspects the topic's log after a failed reading. No more records are accepted before it is checked.
    func suspect(_ topic: Topic, _ owned: OwnedPartition, _ failure: LogFailure) {
        if case .recreated(_, _, let why) = failure {
            owned.watches[topic].suspect(why)
        } else {
            owned.watches[topic].suspect()
            note(failure, of: owned.id)
        }
        look(at: owned)
    }

    /// Progress of every topic, without that which only the log knows, and whether it covers all outcomes. The next
    /// owner must find the other outcomes in the topics.
    func progress(of owned: OwnedPartition) -> (topics: [Topic: TopicProgress], isWhole: Bool) {
        var current: [Topic: TopicProgress] = Dictionary(minimumCapacity: Topic.consumed.count)
        for topic in Topic.consumed { current[topic] = tellable(topic, owned) }
        let isWhole =
            !owned.state.hasUnprovedOutcomes
            && Topic.consumed.allSatisfy { topic in
                current[topic] != nil
                    || (owned.state.committable(topic) == nil && owned.outcomeTail?.hasFound(topic) == false)
            }
        var topics = current
        let left = owned.leftTopics
        for topic in Topic.consumed {
            topics[topic] = owned.reported.tell(of: topic, after: left[topic], isWhole: isWhole, current[topic])
        }
        return (topics, isWhole)
    }

    /// Progress for a row, of a topic that has begun and whose log is not known to be another one. For a log that is
    /// only suspected, the row keeps the finished records and the attempts of jobs. The next owner checks the
    /// fingerprint, and can judge as well as this one whether they count.
    ///
    /// The topic must have a durable offset, too. A row that knows the new log would otherwise make an old log's offset
    /// count.
    private func tellable(_ topic: Topic, _ owned: OwnedPartition) -> TopicProgress? {
        guard owned.watches[topic].proof == nil, let progress = progress(topic, owned), progress.committed != nil else {
            return nil
        }
        return progress
    }

    private func progress(_ topic: Topic, _ owned: OwnedPartition) -> TopicProgress? {
        guard var progress = owned.state.progress(topic) else { return nil }
        progress.committed = ports.consumer.committed(topic, owned.id)
        (progress.fingerprint, progress.last) = (owned.watches[topic].fingerprint, owned.watches[topic].last)
        return progress
    }

    /// Writes the progress row if it is due. Returns whether that began.
    @discardableResult
    func writeProgress(of owned: OwnedPartition, isLast: Bool = false) -> Bool {
        guard owned.isRestored, owned.ledger.isLookDue(at: monotonic, isLast: isLast),
            isLast || owned.outcomeTail != nil
        else { return false }
        let written = owned.ledger.written
        let row = owned.ledger.beginWrite(at: monotonic, isLast: isLast) {
            newestRow(of: owned, after: written, isLast: isLast)
        }
        guard let row else { return false }
        write(row, of: owned)
        return true
    }

    func write(_ row: ProgressRow, of owned: OwnedPartition) {
        owned.state.forgetNames(but: row)
        tasks.yield { [ports, owner = owned.ownership, record = row.newRecord(in: owned.epoch)] in
            let failure = await ports.log.append([record], as: owner).first?.failure
            // Not again at once, because a log that is full refuses at once.
            if failure != nil { await self.pauseAfterRefusal() }
            await self.wroteProgress(row, owner, failure)
        }
    }

    private func wroteProgress(_ row: ProgressRow, _ owner: Ownership, _ failure: LogFailure?) {
        guard let owned = owned(by: owner) else { return }
        if let failure {
            counters.countFailure(failure.code)
            owned.ledger.failed(row, at: monotonic)
            end(owned.state.abandonNaming(), of: owned, FailureNote(failure))
            // The partition goes without the row, and its successor repeats the jobs that were finished ahead. But the
            // row may be in the log, and name a job that runs alone.
            if owned.isLeaving, !owned.state.isUnderWay, owned.outbox.isEmpty, !owned.ledger.blames {
                return release(owned.id)
            }
        } else {
            owned.ledger.wrote(row, at: monotonic)
            owned.reported.wrote(row.topics)
            if let ends = row.answers { owned.outcomeTail?.wrote(ends, parkedEpoch: row.parked?.epoch ?? 0) }
            named(by: row, owned)
        }
        settle()
    }

    /// Whether all finished offsets are committed, too. The last progress rows contain them, so that an operator's
    /// reset while no worker runs is recognised.
    var isCommitted: Bool {
        partitions.values.allSatisfy { owned in
            Topic.consumed.allSatisfy { topic in
                guard let committable = owned.state.committable(topic) else { return true }
                return ports.consumer.committed(topic, owned.id).map { committable <= $0 } ?? false
            }
        }
    }

    /// Whether no progress row is being written. The last one comes after it.
    var isProgressWritten: Bool { partitions.values.allSatisfy(\.ledger.isIdle) }

    /// Last row, for the end of a drain; nil if nothing has changed.
    func lastProgressRow(of owned: OwnedPartition) -> NewRecord? {
        guard owned.isRestored else { return nil }
        let row = newestRow(of: owned, after: owned.ledger.written, isLast: true)
        return owned.ledger.written?.isSame(as: row) == true ? nil : row.newRecord(in: owned.epoch)
    }

    /// The row with the current state.
    private func newestRow(of owned: OwnedPartition, after written: ProgressRow?, isLast: Bool) -> ProgressRow {
        marked(newestProgress(of: owned) ?? written, owned, isLast: isLast, naming: owned.state.namedStill)
    }

    /// nil: the progress is not known yet.
    func newestProgress(of owned: OwnedPartition) -> ProgressRow? {
        guard owned.isRestored, let answers = owned.outcomeTail else { return nil }
        let progress = progress(of: owned)
        return ProgressRow(
            partition: owned.id, topics: progress.topics, answers: answers.ends(isWhole: progress.isWhole),
            away: owned.away,
            parked: owned.parkedJobs(epoch: answers.parkedEpoch(isWhole: progress.isWhole)), at: now)
    }

    /// The row, with the current state of its owner and of quarantined jobs.
    func marked(
        _ row: ProgressRow?, _ owned: OwnedPartition, isLast: Bool = false, naming places: Set<RecordPlace>
    ) -> ProgressRow {
        var row = row ?? ProgressRow(partition: owned.id, topics: [:], at: now)
        let quarantined = owned.state.quarantined
        let isAlone = scheduler.isolatedRuns.flight?.partition == owned.id
        // An owner that was told to stop or to leave may end before its work has, and no job is to blame.
        (row.store, row.isClean) = (owned.store, isLast || owned.isLeaving || !phase.isRunning)
        // Readers use it to see which workers live.
        row.at = ports.time.wall
        (row.crashes, row.quarantined) = (quarantined.crashes, quarantined.rows(naming: places, isAlone: isAlone))
        row.pauses = owned.state.pauses.all
        row.lost = owned.lost.flatMap { $0.isRecent(at: now) ? $0 : nil }
        return row
    }
}

/// Progress of a partition that a worker lost, and the row that the changelog had then.
struct KeptProgress {
    let topics: [Topic: TopicProgress]
    let row: ProgressRow?
    /// Whether this worker wrote that row.
    let isOwn: Bool
}

/// Requested checks of the log. Waiting ones go together, once those before them are done.
struct LogLooks: Sendable {
    private var waiting: [LogLook] = []
    private var isUnderWay = false

    mutating func ask(_ look: LogLook) { waiting.append(look) }

    /// nil: there are none, or others are in progress.
    mutating func begin() -> [LogLook]? {
        guard !isUnderWay, !waiting.isEmpty else { return nil }
        defer { (waiting, isUnderWay) = ([], true) }
        return waiting
    }

    mutating func end() { isUnderWay = false }
}

/// A check of one topic-partition in the log.
struct LogLook: Sendable {
    let owner: Ownership
    let progress: TopicProgress?
    /// Whether the partition has just come: reading then starts according to the result.
    let isFirst: Bool
    let point: LogPoint

    /// Check of the last record that was read, once the fingerprint was found in its position; nil if there is no such
    /// record.
    func afterFingerprint(_ sight: LogSight) -> LogLook? {
        guard var progress, let last = progress.last, progress.breakIn(sight.bounds, fingerprinted: sight.timestamp) == nil
        else { return nil }
        (progress.fingerprint, progress.last) = (last, nil)
        return LogLook(
            owner: owner, progress: progress, isFirst: true, point: LogPoint(point.topic, point.partition, last.offset))
    }
}

extension OwnedPartition {
    func isOpen(_ topic: Topic) -> Bool { watches[topic].isOpen }

    /// nil while the topic's log may be another one.
    func finished(_ topic: Topic) -> FinishedRecords? { isOpen(topic) ? state.finishedRecords(topic) : nil }

    /// Notes records that came, and marks them with the log that is read now.
    func note(_ records: inout [Record], of topic: Topic, at now: Instant) {
        watches[topic].receive(records, at: now)
        let incarnation = state.incarnation(topic)
        guard incarnation > 0 else { return }
        for place in records.indices { records[place].incarnation = incarnation }
    }
}

extension ProgressRow {
    func newRecord(in epoch: Int64) -> NewRecord { newRecord().announced(in: epoch) }
}
