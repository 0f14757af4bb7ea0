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

/// The fold of `parked` into the index. Jobs of the lanes do not wait for it.
extension Worker {
    /// Applies some records of `parked`, if there are any. A restore of a million rows takes many turns, so that the jobs
    /// of the lanes continue beside it.
    func readParked(_ owned: OwnedPartition) {
        guard owned.readable.contains(.parked), owned.isOpen(.parked), !owned.isLeaving else { return }
        do {
            try foldParked(owned)
            guard partitions[owned.id] === owned else { return }
            noteParked(owned)
            republishParked(owned)
        } catch let failure as LogFailure {
            suspect(.parked, owned, failure)
        } catch let failure as IndexFailure {
            if case .corrupt = failure { return rebuild(owned, failure) }
            counters.countFailure(failure.code)
            // Reported once, and retried at every tick.
            guard !owned.parked.isStuck else { return }
            owned.parked.isStuck = true
            logger.error("\(failure)", ["code": .string(failure.code), "partition": .string("\(owned.id)")])
        } catch {}
    }

    private static let rowsAtOnce = 256

    private func foldParked(_ owned: OwnedPartition) throws {
        if owned.unfoldedParked == nil {
            var records = try ports.consumer.drain(.parked, owned.id, limit: Self.rowsAtOnce)
            owned.note(&records, of: .parked, at: monotonic)
            if records.isEmpty { owned.readable.remove(.parked) } else { turnSoon() }
            owned.unfoldedParked = RowBatch(records)
        }
        // Rows that a full disk refused are kept: they are read from the log only once.
        guard let batch = owned.unfoldedParked else { return }
        var epochs = owned.parked.epochs(after: owned.checkpoint(.parked))
        var changes: [(change: ParkedChange, offset: Int64)] = []
        changes.reserveCapacity(batch.rows.count)
        for row in batch.rows { if let change = try change(row, &epochs, owned) { changes.append((change, row.offset)) } }
        if epochs.isOver { return giveWay(owned, to: epochs.epoch) }
        try owned.apply(changes.map(\.change), of: batch, epoch: epochs.epoch)
        for (change, offset) in changes { owned.starts.fold(change.key, at: offset) }
        owned.noteParked { scheduler.use(of: $0, at: moment) > 0 }
        owned.unfoldedParked = nil
        owned.parked.isStuck = false
        turnSoon()
    }

    /// The step of the index that a record of `parked` is; nil for epoch rows, and for records that do not count.
    private func change(
        _ row: RowBatch<ParkedEntry>.Row, _ epochs: inout EpochFold, _ owned: OwnedPartition
    ) throws(IndexFailure) -> ParkedChange? {
        let place = "\(RecordOrigin(topic: .parked, partition: owned.id, offset: row.offset))"
        guard row.epoch != nil else {
            note(
                RecordFailure.header(
                    place: place, name: EventHeader.epoch,
                    reason: "it is missing: only a partition's owner writes to \(Topic.parked.rawValue), so the record does not count"
                ))
            if let key = RecordKey(row.key) { owned.parked.lifecycle.ignore(key, at: row.offset) }
            return nil
        }
        if case .failure = row.entry, let key = RecordKey(row.key), case .parked(let source, let identity) = key,
            try owned.index.parked.parked(source, identity) != nil
        {
            // Compaction would keep the unreadable record in place of the job that the index has.
            owned.parked.lifecycle.ignore(key, at: row.offset)
        }
        guard case .change(let change)? = valid(row, &epochs, &owned.parked, in: owned.id) else { return nil }
        return change
    }

    /// The next step of `parked`: its epoch row, once the partition's jobs may run and all that was in the topic is read.
    func noteParked(_ owned: OwnedPartition) {
        guard owned.isRestored, !owned.isLeaving, !owned.parked.lifecycle.isRestored else { return }
        let end = owned.parked.lifecycle.restoreEnd
        let isRead =
            owned.unfoldedParked == nil
            && (ports.consumer.position(.parked, owned.id).map { $0 >= end } ?? !owned.readable.contains(.parked))
        switch owned.parked.lifecycle.advance(isRead: isRead, at: monotonic) {
        case nil: break
        case .fence(let attempt):
            owned.parked.bid(after: owned.checkpoint(.parked))
            tasks.yield { [owner = owned.ownership] in await self.fenceParked(owner, attempt) }
        case .own:
            logger.debug("The parked jobs are restored.", ["partition": .string("\(owned.id)")])
            forgetEnded(owned)
            forgetQuarantined(owned)
            tasks.yield { [owner = owned.ownership] in await self.recoverParkedEnds(owner) }
        }
    }

    /// Forgets started jobs without a row. A table that was restored meanwhile has not seen their tombstones, if these are
    /// compacted.
    private func forgetEnded(_ owned: OwnedPartition) {
        do throws(IndexFailure) {
            for key in owned.starts.keys {
                guard case .parked(let source, let identity) = key else { continue }
                if try owned.index.parked.parked(source, identity) == nil { owned.starts.forget(key) }
            }
        } catch {
            if case .corrupt = error { rebuild(owned, error) } else { note(error) }
        }
    }

    /// Forgets quarantined jobs whose rows were deleted: an owner that ended a job may have crashed before its next
    /// progress row.
    private func forgetQuarantined(_ owned: OwnedPartition) {
        let offsets = owned.state.quarantined.offsets(of: .parked)
        if offsets.isEmpty { return }
        do throws(IndexFailure) {
            let kept = try owned.index.parked.offsets(among: offsets)
            owned.state.moved(offsets.subtracting(kept).map { RecordPlace(.parked, $0) })
        } catch {
            if case .corrupt = error { rebuild(owned, error) } else { note(error) }
        }
    }

    /// Appends the epoch row of `parked`. The valid rows of ignored keys follow, once all before it is applied: until it is
    /// there, an earlier owner may append rows that count, and that a tombstone would delete.
    private func fenceParked(_ owner: Ownership, _ attempt: Int) async {
        await untilOver { await appendParkedFence(owner, attempt) }
    }

    private func appendParkedFence(_ owner: Ownership, _ attempt: Int) async -> Bool {
        guard let owned = fencingParked(owner, attempt) else { return true }
        let isProven = await proveIndex(of: owned, .parked)
        guard fencingParked(owner, attempt) === owned else { return true }
        guard isProven else { return false }
        let fence = epochRow(of: owned, in: .parked, isClean: false)
        let result = await ports.log.append([fence], as: owner).first
        guard let offset = result?.offset else {
            if let failure = result?.failure { note(failure) }
            return false
        }
        guard fencingParked(owner, attempt) === owned else { return true }
        owned.parked.lifecycle.fenced(at: offset, republished: [:])
        owned.parkedEnd = max(owned.parkedEnd, offset + 1)
        owned.outcomeTail?.opened(owned.parked.epoch, at: offset)
        noteParked(owned)
        return true
    }

    /// The partition, if this epoch row of `parked` is still to be appended.
    private func fencingParked(_ owner: Ownership, _ attempt: Int) -> OwnedPartition? {
        guard let owned = owned(by: owner), !phase.isEnded, !owned.isLeaving,
            owned.parked.lifecycle.isFencing(attempt)
        else { return nil }
        return owned
    }

    /// Republishes the valid row of each key that a fenced owner or another program wrote to.
    ///
    /// A key without a row gets a tombstone. The table must have all rows of this owner then, and no new one may come before
    /// the tombstone, which would delete it.
    func republishParked(_ owned: OwnedPartition) {
        guard !owned.isLeaving, owned.parked.lifecycle.isRestored, owned.parked.lifecycle.folded >= owned.parkedEnd else { return }
        // A lane's job of the key may be in flight: its row would come after this one.
        let keys = owned.parked.lifecycle.keysToRepublish(isInFlight: owned.starts.isStarted)
        guard !keys.isEmpty, owned.outbox.hold() else { return }
        // The epoch row comes last.
        let part = keys.count <= Self.republishedAtOnce ? keys : keys.filter { $0.key.source != nil }
        let some = Dictionary(uniqueKeysWithValues: part.prefix(Self.republishedAtOnce).map { ($0.key, $0.value) })
        guard let valid = validParkedRows(of: some.keys, owned) else { return owned.outbox.letGo() }
        owned.parked.lifecycle.beginRepublishing()
        logger.notice(
            "Records of parked jobs do not count, because their writer does not own the partition: the valid rows are published again.",
            ["partition": .string("\(owned.id)"), "rows": .int(Int64(valid.rows.count))])
        tasks.yield { [ports, owner = owned.ownership] in
            let results = await ports.log.append(valid.rows, as: owner)
            await self.republishedParked(owner, some, valid.places, results)
        }
    }

    private static let republishedAtOnce = 1_000

    private func republishedParked(
        _ owner: Ownership, _ keys: [RecordKey: Int64], _ places: [RecordPlace], _ results: [AppendResult]
    ) async {
        if let failure = results.lazy.compactMap(\.failure).first {
            note(failure)
            await pauseAfterRefusal()
        }
        guard let owned = owned(by: owner) else { return }
        owned.outbox.letGo()
        owned.republishedEnd = (results.compactMap(\.offset).max() ?? -1) + 1
        owned.parkedEnd = max(owned.parkedEnd, owned.republishedEnd)
        let isDone = results.allSatisfy { $0.failure == nil }
        owned.parked.lifecycle.republished(isDone ? keys : [:])
        if isDone { owned.state.moved(places) }
        settle()
    }

    /// The row of each key that counts, or its tombstone, and the epoch row last; and the places of these rows until now. nil
    /// if the index cannot be asked now.
    private func validParkedRows(
        of keys: some Sequence<RecordKey>, _ owned: OwnedPartition
    ) -> (rows: [NewRecord], places: [RecordPlace])? {
        do throws(IndexFailure) {
            var (rows, opening): ([NewRecord], [NewRecord]) = ([], [])
            var places: [RecordPlace] = []
            for key in keys {
                guard case .parked(let source, let identity) = key else {
                    opening = [epochRow(of: owned, in: .parked, isClean: false)]
                    continue
                }
                let job = try owned.index.parked.parked(source, identity)
                var row = job?.row
                // The row gets another offset, by which no suspect is known.
                if let job {
                    let place = RecordPlace(.parked, job.offset)
                    row?.note.crashes = max(job.row.note.crashes, owned.state.quarantined.crashes(of: place))
                    places.append(place)
                }
                let record =
                    row?.newRecord(partition: owned.id, at: now)
                    ?? ParkedRow.drop(source, identity, partition: owned.id)
                rows.append(record.announced(in: owned.parked.epoch))
            }
            return (rows + opening, places)
        } catch {
            if case .corrupt = error { rebuild(owned, error) } else { note(error) }
            return nil
        }
    }
}

/// Care of the table of parked jobs, without the rows of sources.
extension Worker {
    /// Prepares a table that cannot continue from its checkpoint. Returns why the topic is another one, if it is: then the
    /// table may hold jobs that no log has.
    func checkParked(
        _ index: any VariantIndex, _ partition: PartitionID, _ range: Range<Int64>
    ) throws(IndexFailure) -> LogBreak? {
        guard let checkpoint = index.parked.parkedCheckpoint,
            let flaw = checkpoint.flaw(in: range, tombstonesKept: ports.log.tombstonesKept, at: now)
        else { return nil }
        switch flaw {
        case .mismatched: return .shorter(end: range.upperBound, read: checkpoint.position)
        case .outdated(let why): try readAgain(index, partition, why)
        }
        return nil
    }

    /// Handles a table whose fingerprints the topic does not have.
    func discardParked(_ owned: OwnedPartition, _ flaw: IndexCheckpoint.Flaw) {
        guard case .outdated(let why) = flaw else {
            let read = owned.checkpoint(.parked)?.fingerprints?.newestFirst.first?.offset ?? 0
            return stop(owned, .parked, .otherRecord(at: read))
        }
        do {
            try readAgain(owned.index, owned.id, why)
            owned.parked.restart(from: owned.checkpoint(.parked))
            owned.unfoldedParked = nil
            owned.examinations.restart()
            try rewind(owned, .parked)
        } catch let failure as IndexFailure {
            if case .corrupt = failure { rebuild(owned, failure) } else { note(failure) }
        } catch let failure as any StageFailure {
            end(failure)
        } catch {}
    }

    /// Lets the table be read again from the topic's start.
    private func readAgain(
        _ index: any VariantIndex, _ partition: PartitionID, _ why: String
    ) throws(IndexFailure) {
        tellReadAgain(index, partition, why)
        try index.parked.wipeParked()
    }

    /// Reports that the table is read again. One without jobs is not reported.
    private func tellReadAgain(_ index: any VariantIndex, _ partition: PartitionID, _ why: String) {
        if index.parked.parkedCounts.isEmpty { return }
        logger.warning(
            "The table of parked jobs is read again from \(Topic.parked.rawValue): \(why).",
            ["partition": .string("\(partition)")])
    }
}
