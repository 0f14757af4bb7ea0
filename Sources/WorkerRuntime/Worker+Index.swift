internal import Failures
internal import ImageModel
internal import Partition
internal import Ports
internal import Records
internal import Telemetry

/// Indexes are disposable: what is damaged or of another changelog is made anew from the changelog.
extension Worker {
    /// The partition's index, empty if there is none that can be gone on with. One that was kept open is still what its
    /// owner left: a partition that comes back goes on at once.
    func openIndex(_ partition: PartitionID, _ changelog: Range<Int64>) throws(IndexFailure) -> any VariantIndex {
        let kept = keptIndexes.removeValue(forKey: partition)
        let index = if let kept { kept } else { try openFile(partition) }
        let flaw = index.checkpoint?.flaw(in: changelog, tombstonesKept: ports.log.tombstonesKept, at: now)
        guard let flaw else { return index }
        logger.warning("The index is rebuilt from the changelog: \(flaw).", ["partition": .string("\(partition)")])
        do throws(IndexFailure) { try index.wipe() } catch {
            guard case .corrupt = error else { throw error }
            return try ports.indexes.open(partition).index
        }
        return index
    }

    private func openFile(_ partition: PartitionID) throws(IndexFailure) -> any VariantIndex {
        let (index, rebuilt) = try ports.indexes.open(partition)
        if let rebuilt { logger.warning("\(rebuilt)", ["partition": .string("\(partition)")]) }
        return index
    }

    /// The index was found damaged, and its file set aside: an empty one takes its place and the changelog is read
    /// anew. Jobs of the partition wait until it holds what the damaged one held.
    func rebuild(_ owned: OwnedPartition, _ failure: IndexFailure) {
        counters.countFailure(failure.code)
        logger.error("\(failure)", ["code": .string(failure.code), "partition": .string("\(owned.id)")])
        do {
            owned.index.close()
            if !owned.isRestored { restore.leave(owned.lifecycle.rowsLeft) }
            owned.restart(try ports.indexes.open(owned.id).index)
            restore.begin(owned.lifecycle.rowsLeft, at: now)
            try ports.consumer.rewind(.variants, owned.id, to: owned.lifecycle.changelogStart)
            owned.readable.insert(.variants)
            turnSoon()
        } catch let failure as any StageFailure {
            end(failure)
        } catch {}
    }

    /// The index can tell again: jobs that waited for it are looked up.
    func resumePendingJobs(of owned: OwnedPartition) {
        let pendingJobs = owned.pendingJobs
        owned.pendingJobs = []
        for pending in pendingJobs { feed(.resumed(pending), to: owned) }
    }

    /// What is stored for the pending job's source, less the wanted variants whose blobs are gone: those are made again. nil:
    /// the index is damaged, and being rebuilt; or the store is away.
    func snapshot(for pending: PendingJob, in owned: OwnedPartition, at now: Int64) -> SourceSnapshot? {
        guard storeAbsence == nil else { return nil }
        do throws(IndexFailure) {
            let snapshot = try owned.snapshots.snapshot(for: pending, at: now, isGone: isGone) {
                () throws(IndexFailure) in
                try owned.index.snapshot(of: pending.job.source)
            }
            guard storeAbsence != nil else { return snapshot }
            owned.snapshots.forget(pending.job.source)
            return nil
        } catch {
            if case .corrupt = error {
                rebuild(owned, error)
                return nil
            }
            counters.countFailure(error.code)
            // An unreadable index costs work, never a job: everything is planned as if nothing were stored.
            logger.error("\(error)", ["code": .string(error.code), "partition": .string("\(owned.id)")])
            return SourceSnapshot()
        }
    }
}
