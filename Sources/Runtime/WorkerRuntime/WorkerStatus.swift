package import Clocks
internal import Jobs
internal import Ledger
internal import Partition
internal import Permits
package import Ports
package import Records
internal import Synchronization

/// Work that a worker has done and has left at one moment. The progress line, the health report and the metrics all use
/// it.
package struct WorkerStatus: Sendable {
    package let counters: Counters
    package let restore: RestoreProgress
    /// Partitions that the worker owns now.
    package let owned: [PartitionID]
    /// Number of assignments of partitions.
    package let assignments: Int
    /// Partitions that are held and left alone: their changelog was recreated.
    package let stopped: Int
    /// Owned partitions that are not restored.
    package let restoring: Int
    /// Active pauses in owned partitions.
    package let pauses: [Pause]
    /// Changelog records that those lack, at most.
    package let rowsLeft: Int64
    /// Accepted records that are not finished.
    package let unfinished: [Topic: Int]
    /// Parked jobs of partitions whose `parked` is restored.
    package let parked: [PartitionID: ProgressRow.Parked]
    /// Append time of the oldest accepted record that is not finished.
    package let oldestTimes: [PartitionID: [Topic: WallTime]]
    /// Finished records of each topic, committed or not.
    package let finished: [PartitionID: [Topic: FinishedRecords]]
    /// Records finished behind an unfinished one. A successor must learn of each.
    package let finishedAhead: [Topic: Int]
    /// Outcomes that are decided and not acknowledged.
    package let answers: Int
    /// Jobs that were left when the worker ended; 0 before.
    package let waiting: Int
    /// Number of them that open transactions hid.
    package let hidden: Int
    /// Number of them in partitions that no worker reads, as a run until idle found them.
    package let unread: Int
    /// Fetches, renders and announcements in progress.
    package let underWay: Int
    package let permits: [(kind: String, used: Int, all: Int)]
    /// Minimum lead of this machine's clock over the brokers'; nil: not known.
    package let clockSkew: Duration?
    /// Sources in each step that nobody but this worker can end.
    package let steps: [(step: StandstillWatch.Step, sources: Int, oldest: Duration)]
    /// Whether jobs can be accepted: the worker runs and all its partitions are restored, or it has nothing to own.
    package let isReady: Bool
    package let isStopping: Bool

    /// Rows that were restored into indexes, including the restore in progress.
    package var restoredRows: Int { counters.restoredRows + restore.rows }

    /// Records that are not finished, as far as this worker knows.
    package func unfinished(_ offsets: PartitionOffsets) -> Int64 {
        offsets.unfinished(finished[offsets.partition]?[offsets.topic])
    }
}

extension Worker {
    package var status: WorkerStatus {
        let owned = partitions.values
        let restoring = owned.filter { !$0.isRestored }
        let rules = scheduler.rules
        return WorkerStatus(
            counters: counters, restore: duties.restore, owned: partitions.keys.sorted(), assignments: assignments,
            stopped: duties.stopped.ids.count, restoring: restoring.count,
            pauses: Pause.active(owned.lazy.flatMap { $0.state.pauses.all }, at: now), rowsLeft: restoring.reduce(0) { $0 + $1.lifecycle.rowsLeft },
            unfinished: records { $0.unfinished($1) },
            parked: partitions.compactMapValues { owned in owned.openParkedEpoch.map { owned.parkedJobs(epoch: $0) } },
            oldestTimes: partitions.mapValues { owned in Self.byTopic { owned.state.oldestTime($0) } },
            finished: partitions.mapValues { owned in Self.byTopic { owned.finished($0) } },
            finishedAhead: records { $0.finishedAhead($1) },
            answers: owned.reduce(0) { owned, partition in
                owned + Topic.consumed.reduce(0) { $0 + partition.outbox.count($1) }
            },
            waiting: waiting, hidden: hidden, unread: unread, underWay: underWay,
            permits: [
                ("fetch", scheduler.running(.fetch) - scheduler.late.all, rules.fetch),
                ("slow-fetch", scheduler.late.all, rules.late),
                ("render", scheduler.running(.render), rules.render),
            ],
            clockSkew: clockSkew,
            steps: duties.standstill.loads,
            isReady: phase.isRunning && restoring.isEmpty && (!owned.isEmpty || ports.consumer.ownsNothing),
            isStopping: !phase.isRunning)
    }

    private static func byTopic<Value>(_ value: (Topic) -> Value?) -> [Topic: Value] {
        Dictionary(uniqueKeysWithValues: Topic.consumed.compactMap { topic in value(topic).map { (topic, $0) } })
    }

    /// Sum over all partitions, by topic.
    private func records(_ count: (borrowing PartitionState, Topic) -> Int) -> [Topic: Int] {
        guard !partitions.isEmpty else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: Topic.consumed.map { topic in
                (topic, partitions.values.reduce(0) { $0 + count($1.state, topic) })
            })
    }

    /// Time since the worker last ticked; it ticks twenty times a second.
    package nonisolated var silence: Duration {
        ports.time.monotonic - Instant(nanoseconds: ticked.load(ordering: .relaxed))
    }
}
