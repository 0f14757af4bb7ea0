internal import Canonical
package import Clocks
internal import Failures
internal import Hosts
internal import Jobs
internal import Ledger
internal import Partition
internal import Permits
package import Ports
internal import Positions
package import Records
internal import Telemetry

/// The worker as listener of the log: partitions come and go, records are read and accepted. `Worker+Fold` applies
/// rows.
extension Worker: LogListener {
    package nonisolated func assigned(
        _ partition: PartitionID, epoch: Int64, folded: ByFoldedTopic<Range<Int64>>
    ) -> ByFoldedTopic<Int64> {
        assumeIsolated { $0.begin(partition, epoch, folded) }
    }

    package nonisolated func readable(_ topic: Topic, _ partition: PartitionID) {
        assumeIsolated { worker in
            guard let owned = worker.partitions[partition] else { return }
            owned.readable.insert(topic)
            worker.turnSoon()
        }
    }

    package nonisolated func revoked(_ partition: PartitionID, deadline: Instant) {
        assumeIsolated { $0.leave(partition) }
    }

    package nonisolated func lost(_ partition: PartitionID) {
        assumeIsolated { $0.release(partition) }
    }

    package nonisolated func halted(_ failure: LogFailure?) {
        assumeIsolated { worker in
            guard let failure else {
                return worker.logger.info("The log's disk has room again: the worker takes jobs.")
            }
            worker.note(failure)
        }
    }

    package nonisolated func failed(_ failure: LogFailure) {
        assumeIsolated { $0.end(failure) }
    }

    /// Reads records that have arrived, while there is room: rows first, because jobs are planned against them.
    func read(_ owned: OwnedPartition) {
        do {
            if owned.readable.contains(.variants), owned.isOpen(.variants) { try fold(owned) }
            guard partitions[owned.id] === owned else { return }
            readParked(owned)
            // While draining or leaving, rows only: outcomes wait for them.
            guard owned.isRestored, !owned.isLeaving, phase.isRunning else { return }
            for topic in Self.readingOrder
            where owned.readable.contains(topic) && owned.isOpen(topic) && owned.pause(of: topic) == nil {
                if topic != .control, !hasReadControls(owned) { break }
                do throws(LogFailure) { try take(topic, owned) } catch {
                    if error.endsWorker { throw error }
                    suspect(topic, owned, error)
                }
            }
        } catch let failure as LogFailure {
            failure.endsWorker ? end(failure) : suspect(.variants, owned, failure)
        } catch let failure as IndexFailure {
            if case .corrupt = failure { return rebuild(owned, failure) }
            // Logged once, and retried at every tick.
            if owned.changelog.isStuck { return counters.countFailure(failure.code) }
            owned.changelog.isStuck = true
            report(failure, of: owned.id)
        } catch {}
    }

    /// Controls come first, so that they apply to jobs that no worker has read.
    private static let readingOrder = [.control] + Topic.jobTopics

    private func take(_ topic: Topic, _ owned: OwnedPartition) throws(LogFailure) {
        let limit = min(256, owned.room(topic, readAhead: configuration.readAhead))
        guard limit > 0, !owned.decoding.contains(topic) else { return }
        let records = try drain(topic, owned, limit)
        if !records.isEmpty {
            turnSoon()
            if topic.lane != nil { busyAt = monotonic }
        }
        guard records.count > Self.decodedAtOnce, topic != .control else {
            return takeUp(records, of: topic, owned)
        }
        // A third of a stored job's cost is to read its record and to check its files. Other cores do it, one batch of
        // a topic at a time, so that offsets stay in order.
        owned.decoding.insert(topic)
        duties.standstill.begin(.look, of: .batch(of: topic, owned.id))
        // Moved out, because changes there would otherwise be written to a copy.
        let lent = exchange(&owned.recentParts[topic], with: RecentParts())
        let (begun, rows) = (moment, rowsAhead(of: records, topic, owned))
        tasks.yield { [taken = records, owner = owned.ownership] in
            var recent = lent
            let events = taken.map { self.takeUp($0, &recent) }
            let looks = await self.lookAhead(events, rows, at: begun)
            await self.arrive(events, looks, recent, topic, owner)
        }
    }

    private func drain(_ topic: Topic, _ owned: OwnedPartition, _ limit: Int) throws(LogFailure) -> [Record] {
        var records = try ports.consumer.drain(topic, owned.id, limit: limit)
        if records.isEmpty { owned.readable.remove(topic) }
        owned.note(&records, of: topic, at: monotonic)
        return records
    }

    /// Whether the controls that were published before the partition came are read. Jobs do not wait for them for long, because
    /// the topic's broker may be away.
    func hasReadControls(_ owned: OwnedPartition) -> Bool {
        let limit = owned.controlsLimit ?? monotonic + Self.controlPatience
        owned.controlsLimit = limit
        // A log may have more controls than stand at once.
        if monotonic >= limit || owned.room(.control, readAhead: 0) <= 0 { return true }
        guard let end = owned.controlsEnd else { return false }
        return ports.consumer.position(.control, owned.id) ?? owned.state.committable(.control) ?? end >= end
    }

    private static let controlPatience = Duration.seconds(10)

    /// Whether this worker knows which hosts are blocked.
    var knowsHosts: Bool { duties.hosts.isReady(at: monotonic) }

    /// Takes a decoded batch. If its partition went or the worker is stopping meanwhile, the next owner reads its
    /// records again.
    private func arrive(
        _ events: [PartitionEvent], _ looks: [SourceKey: SnapshotCache.Look], _ recent: RecentParts,
        _ topic: Topic, _ owner: Ownership
    ) {
        duties.standstill.end(.batch(of: topic, owner.partition))
        guard let owned = owned(by: owner) else { return }
        owned.decoding.remove(topic)
        owned.recentParts[topic] = recent
        owned.snapshots.useAhead(topic, looks)
        defer { owned.snapshots.endAhead() }
        guard phase.isRunning, !owned.isLeaving else { return }
        let moment = moment
        for (place, event) in events.enumerated() {
            feed(unlessParked(event, owned), to: owned, at: moment)
            // Otherwise the jobs of a blocked host would fill its share of memory.
            if place % 32 == 31 { grant() }
        }
        settle()
        turnSoon()
    }

    /// Number of records up to which decoding on another thread does not pay.
    static let decodedAtOnce = 16

    /// Whether every decided outcome is durable.
    var isAnswered: Bool { partitions.values.allSatisfy(\.outbox.isEmpty) }

    /// Whether there is nothing to do now, as far as this worker knows. Its partitions are restored, no record is
    /// unread or unfinished, and nothing is being appended.
    package var isQuiet: Bool { isQuiet(for: nil) }

    /// - Parameter patience: jobs that become due later than this do not count.
    func isQuiet(for patience: Duration?) -> Bool {
        guard underWay == 0, isAnswered, !ports.consumer.isAwaiting,
            !partitions.isEmpty || duties.stopped.failure != nil || ports.consumer.ownsNothing
        else { return false }
        return partitions.values.allSatisfy {
            $0.isRestored && $0.lifecycle.isClean && $0.parked.isSettled && $0.outcomeTail != nil && $0.decoding.isEmpty
                && !$0.state.hasFlights && $0.starts.count == 0 && OwnedPartition.watched.allSatisfy($0.isOpen) && $0.ledger.isIdle
                && isRead($0, for: patience) && $0.state.unfinished == 0 && hasNoParked($0, for: patience)
        }
    }

    /// Whether nothing is left to read, except in lanes that are paused for longer than `patience`.
    private func isRead(_ owned: OwnedPartition, for patience: Duration?) -> Bool {
        guard let patience, !owned.readable.isEmpty else { return owned.readable.isEmpty }
        return Topic.allCases.allSatisfy { topic in
            !owned.readable.contains(topic) || outlives(owned.pause(of: topic), patience)
        }
    }

    /// Whether a pause lasts for longer than `patience`.
    func outlives(_ pause: Pause?, _ patience: Duration) -> Bool { pause.map { $0.until - now > patience } ?? false }

    /// Time for which none of the hosts is asked; nil if one may be asked now.
    func blockLeft(of hosts: some Collection<OriginHost>) -> Duration? {
        var least = Instant.distantFuture - monotonic
        for host in hosts {
            guard case .blocked(let until)? = scheduler.origins[host]?.phase else { return nil }
            least = min(least, until - monotonic)
        }
        return least
    }

    /// Counts the jobs of this worker's partitions that have no outcome, as far as the log and the indexes show.
    func countWaiting() async {
        waiting = partitions.values.reduce(0) { $0 + $1.index.parked.parkedCounts.values.reduce(0) { $0 + $1.jobs } }
        let own = partitions.keys.sorted() + duties.stopped.ids
        for offsets in (try? await ports.log.partitionOffsets(Topic.jobTopics, own)) ?? [] {
            waiting += Int(offsets.unfinished(partitions[offsets.partition]?.finished(offsets.topic)))
            hidden += Int(offsets.hidden)
        }
        waiting += unread
    }

    /// Content of the log for a worker that is quiet.
    enum Rest {
        case nothing
        case records
        /// Records from this one on that an open transaction hides, with their number.
        case hidden(LogPoint, Int64)
        /// Jobs that a pause holds back for longer than this worker may wait.
        case paused(Pause)
        /// Partitions that were added to these topics hold records, which stay unread while any worker runs.
        case unread([GrownTopic])
    }

    /// Records that the log still holds for the partitions of this quiet worker.
    func rest() async -> Rest {
        guard let found = try? await ports.log.partitionOffsets(Topic.consumed, Array(partitions.keys)) else {
            return .records
        }
        var held = partitions.values.lazy.compactMap { self.pauseOfParked($0) }.first
        for offsets in found {
            let owned = partitions[offsets.partition]
            let committable = owned?.state.committable(offsets.topic) ?? offsets.start
            // Offsets have gaps, at the end too.
            let read = ports.consumer.position(offsets.topic, offsets.partition) ?? committable
            if max(committable, read) >= offsets.bounds.upperBound { continue }
            let pause = owned?.pause(of: offsets.topic)
            guard let patience = configuration.patience, outlives(pause, patience) else { return .records }
            held = held ?? pause
        }
        if let held { return .paused(held) }
        guard let grown = try? await ports.log.grownTopics() else { return .records }
        let unread = grown.filter { Topic.consumed.contains($0.topic) && $0.unread != 0 }
        self.unread = Int(unread.reduce(0) { $0 + ($1.unread ?? 0) })
        guard let first = found.first(where: { $0.hidden > 0 }) else {
            return unread.isEmpty ? .nothing : .unread(unread)
        }
        return .hidden(LogPoint(first.topic, first.partition, first.bounds.upperBound), first.hidden)
    }

    /// A pause that holds back parked jobs for longer than this worker may wait.
    private func pauseOfParked(_ owned: OwnedPartition) -> Pause? {
        let pauses = owned.state.pauses
        guard !pauses.isEmpty, let patience = configuration.patience else { return nil }
        return owned.index.parked.parkedCounts.keys.lazy.compactMap { pauses.holding($0) }
            .first { self.outlives($0, patience) }
    }

    /// Commits gaps at the end of topics, such as a transaction's marker. A gap is finished once all records before it
    /// are.
    func passGaps(_ owned: OwnedPartition) {
        for topic in Topic.consumed
        where !owned.readable.contains(topic) && !owned.decoding.contains(topic) && owned.isOpen(topic)
            && !owned.isLeaving
        {
            guard let position = ports.consumer.position(topic, owned.id),
                let offset = owned.state.pass(topic, to: position)
            else { continue }
            commit(topic, below: offset, of: owned)
        }
    }
}

extension LogFailure {
    /// Whether further reading would never succeed.
    fileprivate var endsWorker: Bool {
        switch self {
        case .unreadable, .topics: true
        default: false
        }
    }
}

extension FlightID {
    /// Id under which a batch of a topic's records is watched. No flight has such a number.
    fileprivate static func batch(of topic: Topic, _ partition: PartitionID) -> FlightID {
        FlightID(partition, -1 - topic.ordinal)
    }
}
