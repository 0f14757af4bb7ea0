internal import Clocks
internal import Failures
internal import Ledger
internal import Partition
internal import Ports
internal import Positions
internal import Records
internal import Telemetry

/// Stops a partition whose changelog or `parked` was recreated. Its index stays as it is, and `mezzotint topics restore`
/// publishes it in the new log.
extension Worker {
    /// Asks, when it is time, whether the index still folds each topic from the same log.
    func lookAtFolded(of owned: OwnedPartition) {
        guard !owned.isLeaving else { return }
        for topic in Topic.folded where owned.watches[topic].beginLook(at: monotonic) {
            let (watch, lifecycle) = (owned.watches[topic], owned[fold: topic].lifecycle)
            let end = max(lifecycle.folded, lifecycle.restoreEnd)
            let progress = TopicProgress(next: end, fingerprint: watch.readsFingerprint ? watch.fingerprint : nil)
            looks.ask(
                LogLook(
                    owner: owned.ownership, progress: progress, isFirst: false,
                    point: LogPoint(topic, owned.id, progress.fingerprint?.offset)))
        }
    }

    func lookedAtFolded(_ topic: Topic, _ look: LogLook, _ sight: LogSight, _ owned: OwnedPartition) {
        var progress = look.progress
        // Compaction may have taken the record away.
        if sight.timestamp == nil { progress?.fingerprint = nil }
        var why = owned.watches[topic].proof ?? progress?.breakIn(sight.bounds, fingerprinted: sight.timestamp)
        // A reader continues in silence behind removed records.
        if let read = owned[fold: topic].readAtLook, read < sight.bounds.lowerBound {
            why = why ?? .later(start: sight.bounds.lowerBound, read: read)
        }
        if let why { return stop(owned, topic, why) }
        let lifecycle = owned[fold: topic].lifecycle
        owned[fold: topic].readAtLook = max(lifecycle.folded, lifecycle.changelogStart)
        owned.watches[topic].found(at: monotonic)
        owned.readable.insert(topic)
    }

    /// Stops the partition: a row that landed before the position that was folded when it was sent is in another log.
    func landed(at offset: Int64, behind folded: Int64, of flight: FlightID) {
        guard let owned = partitions[flight.partition], owned.state.has(flight) else { return }
        stop(owned, .variants, .shorter(end: offset, read: folded))
    }

    /// Whether the changelog replaces an earlier one. Owners open a changelog before they commit any offset.
    func isRecreated(_ owned: OwnedPartition) -> Bool {
        owned.index.checkpoint?.isOpened != true && Topic.consumed.contains { ports.consumer.committed($0, owned.id) != nil }
    }

    /// Gives the partition's running jobs up. Its jobs wait in their topics until the rows are restored.
    func stop(_ owned: OwnedPartition, _ topic: Topic, _ why: LogBreak) {
        // By the times of its rows, it would be newer than each index of the old changelog.
        if why == .unopened { try? owned.index.wipe() }
        let isLeaving = owned.isLeaving
        release(owned.id)
        // Its next owner finds out.
        if isLeaving { return }
        let failure = LogFailure.recreated(topic: topic, partition: owned.id, why)
        report(failure, of: owned.id)
        duties.stopped.add(owned.id, failure, at: monotonic)
    }
}
