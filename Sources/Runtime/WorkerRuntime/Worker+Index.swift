internal import Canonical
internal import Clocks
internal import Failures
internal import ImageModel
internal import Jobs
internal import Ledger
internal import Partition
internal import Ports
internal import Positions
internal import Records
internal import Telemetry
internal import VariantSpec

/// Care of indexes. They are disposable: an index that is damaged, or of another changelog, is rebuilt from the
/// changelog.
extension Worker {
    /// Opens the partition's index, or an empty one if the old cannot be used. An index that was kept open is unchanged
    /// since its owner left, so a partition that comes back continues at once.
    func openIndex(_ partition: PartitionID, _ changelog: Range<Int64>) throws(IndexFailure) -> any VariantIndex {
        let kept = keptIndexes.removeValue(forKey: partition)
        return try withRoom { () throws(IndexFailure) in
            let index = if let kept { kept } else { try openFile(partition) }
            switch index.checkpoint?.flaw(in: changelog, tombstonesKept: ports.log.tombstonesKept, at: now) {
            case nil: return index
            case let flaw?: return try emptied(index, partition, flaw)
            }
        }
    }

    /// Opens an index, or a placeholder if the disk has no space for it.
    private func withRoom(
        _ make: () throws(IndexFailure) -> any VariantIndex
    ) throws(IndexFailure) -> any VariantIndex {
        do throws(IndexFailure) { return try make() } catch {
            guard case .full = error else { throw error }
            note(error)
            return AwaitedIndex(error, at: monotonic)
        }
    }

    /// Retries to open an index that the disk had no space for.
    func openAwaited(_ owned: OwnedPartition) {
        do throws(IndexFailure) {
            let index = try openIndex(owned.id, owned.lifecycle.changelogStart..<owned.lifecycle.restoreEnd)
            if index is AwaitedIndex { return }
            let parked = owned.parked.lifecycle
            let missing = try checkParked(index, owned.id, parked.changelogStart..<parked.restoreEnd)
            restart(owned) { () throws(IndexFailure) in index }
            if let missing { stop(owned, .parked, missing) }
        } catch { end(error) }
    }

    /// Empties an index. Rows of another changelog are kept aside, because maybe no topic has them any longer.
    private func emptied(
        _ index: any VariantIndex, _ partition: PartitionID, _ flaw: IndexCheckpoint.Flaw
    ) throws(IndexFailure) -> any VariantIndex {
        do throws(IndexFailure) {
            switch flaw {
            case .mismatched(let why):
                report(IndexFailure.mismatched(partition, reason: why), of: partition)
                try index.moveAway()
            // Compaction alone takes old rows away, so a copy of each such index would fill the disk.
            case .outdated(let why):
                tellOutdated(index, partition, why)
                try index.wipe()
                return index
            }
        } catch { guard case .corrupt = error else { throw error } }
        return try ports.indexes.open(partition).index
    }

    /// Reports an outdated index. An index without rows, as quiet partitions have, is not reported.
    private func tellOutdated(_ index: any VariantIndex, _ partition: PartitionID, _ why: String) {
        guard (try? index.isEmpty()) != true else { return }
        logger.warning("The index is rebuilt from the changelog: \(why).", ["partition": .string("\(partition)")])
    }

    /// Whether the index belongs to this changelog, or to this log of `parked`, by the newest of its fingerprints that
    /// compaction left. False if the index is rebuilt, or the log cannot be asked now.
    func proveIndex(of owned: OwnedPartition, _ topic: Topic) async -> Bool {
        guard let fingerprints = owned[fold: topic].unproven else { return true }
        var flaw = IndexCheckpoint.Flaw.outdated(
            "none of the rows that it applied last is left in \(topic == .variants ? "the changelog" : topic.rawValue)")
        do throws(LogFailure) {
            for fingerprint in fingerprints.newestFirst {
                let point = LogPoint(topic, owned.id, fingerprint.offset)
                guard let found = try await ports.log.sights(at: [point]).first?.get().timestamp else { continue }
                if found == fingerprint.timestamp {
                    owned[fold: topic].prove()
                    return true
                }
                flaw = .mismatched("offset \(fingerprint.offset) holds another record than the one that it applied")
                break
            }
        } catch {
            note(error)
            return false
        }
        guard partitions[owned.id] === owned, owned[fold: topic].unproven == fingerprints else { return false }
        if topic == .parked { discardParked(owned, flaw) } else { discard(owned, flaw) }
        return false
    }

    /// Discards an index that cannot be used: it is emptied, and the changelog is read again.
    private func discard(_ owned: OwnedPartition, _ flaw: IndexCheckpoint.Flaw) {
        let isOfAnother = if case .mismatched = flaw { true } else { false }
        restart(owned, isOfAnother: isOfAnother) { () throws(IndexFailure) in
            try emptied(owned.index, owned.id, flaw)
        }
    }

    private func openFile(_ partition: PartitionID) throws(IndexFailure) -> any VariantIndex {
        let (index, rebuilt) = try ports.indexes.open(partition)
        if let rebuilt {
            let code = IndexFailure.Code.corrupt.rawValue
            counters.countFailure(code)
            logger.warning("\(rebuilt)", ["code": .string(code), "partition": .string("\(partition)")])
        }
        return index
    }

    /// Replaces a damaged index, whose file was renamed, with an empty one, and reads the changelog again. Jobs of the
    /// partition wait until the new index holds as much as the old.
    func rebuild(_ owned: OwnedPartition, _ failure: IndexFailure) {
        report(failure, of: owned.id)
        owned.index.close()
        restart(owned) { () throws(IndexFailure) in try ports.indexes.open(owned.id).index }
    }

    private func restart(
        _ owned: OwnedPartition, isOfAnother: Bool = false, with make: () throws(IndexFailure) -> any VariantIndex
    ) {
        do {
            if !owned.isRestored { duties.restore.leave(owned.lifecycle.rowsLeft) }
            owned.restart(try withRoom(make), isOfAnother: isOfAnother)
            duties.restore.begin(owned.lifecycle.rowsLeft, at: monotonic)
            for topic in Topic.folded { try rewind(owned, topic) }
        } catch let failure as any StageFailure {
            end(failure)
        } catch {}
    }

    /// Reads a folded topic again from the index's position in it.
    func rewind(_ owned: OwnedPartition, _ topic: Topic) throws(LogFailure) {
        let start = owned.checkpoint(topic)?.position ?? owned[fold: topic].lifecycle.changelogStart
        try ports.consumer.rewind(topic, owned.id, to: start)
        owned.readable.insert(topic)
        turnSoon()
    }

    /// Looks up jobs that waited for the index, because it can be read again.
    func resumePendingJobs(of owned: OwnedPartition) {
        let pendingJobs = owned.pendingJobs
        owned.pendingJobs = []
        for pending in pendingJobs { feed(.resumed(pending), to: owned) }
    }

    /// Stored rows of the pending job's source, without the wanted variants whose blobs are missing: those are rendered
    /// again. nil: the index is damaged and being rebuilt, or the store is unavailable.
    func snapshot(for pending: PendingJob, in owned: OwnedPartition, at now: Moment) -> SourceSnapshot? {
        guard duties.store.absence == nil else { return nil }
        do throws(IndexFailure) {
            let snapshot = try owned.snapshots.snapshot(for: pending, at: now, isGone: isGone) {
                () throws(IndexFailure) in
                try owned.index.snapshot(of: pending.job.source)
            }
            guard duties.store.absence != nil else { return snapshot }
            owned.snapshots.forget(pending.job.source)
            return nil
        } catch {
            if case .corrupt = error {
                rebuild(owned, error)
                return nil
            }
            // An unreadable index costs work, never a job: everything is planned as if nothing were stored.
            report(error, of: owned.id)
            return SourceSnapshot()
        }
    }

    /// Rows of the index for the sources of a batch of records; nil if they cannot be read.
    func rowsAhead(of records: [Record], _ topic: Topic, _ owned: OwnedPartition) -> PackedSnapshots? {
        let sources = owned.snapshots.beginAhead(topic, records, at: moment)
        if sources.isEmpty { return nil }
        do throws(IndexFailure) { return try owned.index.packedSnapshots(of: sources) } catch {
            // Other failures are reported when the jobs are looked up.
            if case .corrupt = error { rebuild(owned, error) }
            return nil
        }
    }

    /// Look-ups for a batch's jobs, ahead of them and not on the thread that decides. Unpacking rows and checking files
    /// is a third of the cost of a stored job whose source comes once. If a file is missing, or a format is not chosen
    /// yet, the job is looked up by itself.
    nonisolated func lookAhead(
        _ events: [PartitionEvent], _ rows: PackedSnapshots?, at begun: Moment
    ) async -> [SourceKey: SnapshotCache.Look] {
        guard let snapshots = rows?() else { return [:] }
        var looks: [SourceKey: SnapshotCache.Look] = [:]
        looks.reserveCapacity(snapshots.count)
        var blobs: [(location: String, bytes: Int)] = []
        var sources: [SourceKey] = []
        for case .arrived(let pending) in events {
            let (source, wanted) = (pending.job.source, pending.job.variants)
            guard looks[source] == nil, let snapshot = snapshots[source], !wanted.contains(where: \.isAuto) else {
                continue
            }
            looks[source] = SnapshotCache.Look(snapshot: snapshot, asked: wanted, at: begun)
            let rows = snapshot.variants
            for place in rows.indices where wanted.contains(rows[place].spec) {
                blobs.append((rows[place].location, rows[place].bytes))
                sources.append(source)
            }
        }
        if blobs.isEmpty { return looks }
        for place in await ports.store.gone(among: blobs) { looks[sources[place]] = nil }
        return looks
    }
}
