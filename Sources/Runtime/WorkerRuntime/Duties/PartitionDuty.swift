internal import Clocks
internal import Ledger
internal import Partition
internal import Positions

/// A standing task for one partition, in the order of a tick. Each has a value of the partition, with private state,
/// that knows when it is due. A new duty is a case here and a line of `Worker.perform`.
enum PartitionDuty: CaseIterable {
    /// Opens an index that the disk had no space for (`AwaitedIndex`).
    case openIndex
    /// Advances the time of jobs (`PartitionState`) and of look-ups (`SnapshotCache`).
    case advanceTime
    /// Publishes valid rows again, in place of a fenced owner's (`PartitionLifecycle`).
    case republish
    case republishParked
    /// Continues the restore (`PartitionLifecycle`): an index that could not give the rows for the fence is asked again,
    /// even if no rows arrive.
    case restore
    case restoreParked
    /// Starts parked jobs whose hosts have room (`ParkedStarts`).
    case startParked
    /// Checks whether the topics' logs are still the same (`LogWatch`).
    case checkLogs
    /// Writes the progress row (`ProgressLedger`).
    case writeProgress
    /// Ends the wait of flights for a row with their names, and the suspicion after a crash (`QuarantinedJobs`,
    /// `Naming`).
    case endNaming
    /// Commits gaps at the end of topics (`Positions`).
    case passGaps
}

extension OwnedPartition {
    func isDue(_ duty: PartitionDuty, at now: Instant) -> Bool {
        switch duty {
        case .openIndex: (index as? AwaitedIndex)?.beginAttempt(at: now) ?? false
        case .advanceTime, .endNaming: true
        case .republish: !lifecycle.isClean && ledger.isIdle
        case .republishParked: !parked.lifecycle.isClean
        case .restore: !isRestored
        case .restoreParked: isRestored && !parked.lifecycle.isRestored
        case .startParked: true
        case .checkLogs, .passGaps: !isLeaving
        case .writeProgress: isRestored && !isLeaving && outcomeTail != nil && ledger.isLookDue(at: now)
        }
    }
}

extension Worker {
    func perform(_ duty: PartitionDuty, of owned: OwnedPartition) {
        switch duty {
        case .openIndex: openAwaited(owned)
        case .advanceTime:
            feed(.tick, to: owned)
            owned.snapshots.tick(monotonic)
        case .republish: republish(owned)
        case .republishParked: republishParked(owned)
        case .restore: noteRestored(owned)
        case .restoreParked: noteParked(owned)
        case .startParked:
            finishPauses(owned)
            examineParked(owned)
            startParked(owned)
        case .checkLogs: look(at: owned)
        case .writeProgress: writeProgress(of: owned)
        case .endNaming: tickNaming(owned)
        case .passGaps: if phase.isRunning { passGaps(owned) }
        }
    }
}
