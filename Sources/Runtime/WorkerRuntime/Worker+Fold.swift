internal import Canonical
internal import Clocks
internal import Failures
internal import ImageModel
internal import Ledger
internal import Partition
internal import Ports
internal import Positions
internal import Records
internal import Telemetry

/// The changelog's tail into the index: at restore and ever after, the one way by which rows come to count.
extension Worker {
    /// Takes the next batch of rows into the index.
    func fold(_ owned: OwnedPartition) throws {
        guard !owned.decoding.contains(.variants) else { return }
        // What a full disk refused is applied first: it is read from the log only once.
        guard let batch = owned.unfolded else {
            let records = try ports.consumer.drain(.variants, owned.id, limit: 2_048)
            if let last = records.last {
                owned.watches[.variants].receive(last.offset, appended: last.timestamp, at: monotonic)
                if ports.log.hasOwnClock, last.epoch == owned.epoch, let written = last.writtenAt {
                    duties.clock.note(written: written, appended: last.timestamp, at: moment)
                }
            }
            // Only none means that there is no more: a read also ends at a number of bytes.
            if records.isEmpty { owned.readable.remove(.variants) } else { turnSoon() }
            if !owned.isRestored, records.count > Self.decodedAtOnce { return decode(records, of: owned) }
            owned.unfolded = RowBatch(records)
            if owned.unfolded != nil { try fold(owned) }
            noteRestored(owned, isAtEnd: records.isEmpty)
            return republish(owned)
        }
        var epochs = owned.epochs
        var progress: ProgressRow?
        let changes = batch.rows.compactMap { change($0, &epochs, &progress, owned) }
        if epochs.isOver { return giveWay(owned, to: epochs.epoch) }
        try owned.apply(changes, of: batch, progress: progress, epoch: epochs.epoch)
        for change in changes { owned.snapshots.forget(change.source) }
        owned.unfolded = nil
        owned.changelog.isStuck = false
        if !owned.isRestored { duties.restore.add(changes.count) }
        feed(.folded(batch.end), to: owned)
        noteRestored(owned)
        turnSoon()
    }

    /// Another owner's fence is in the log: what is announced here counts for nothing, and must not be answered as stored.
    func giveWay(_ owned: OwnedPartition, to epoch: Int64) {
        logger.warning(
            "The partition was reassigned to another worker: this one releases it.",
            ["partition": .string("\(owned.id)"), "epoch": .string("\(owned.epoch)"), "other": .string("\(epoch)")])
        owned.lifecycle.leave()
        release(owned.id)
    }

    /// A restore has two cores to use: one reads rows while the other applies those of another partition.
    private func decode(_ records: [Record], of owned: OwnedPartition) {
        owned.decoding.insert(.variants)
        tasks.yield { [owner = owned.ownership, rebuilds = owned.lifecycle.rebuilds] in
            await self.decoded(RowBatch(records), owner, rebuilds)
        }
    }

    private func decoded(_ batch: RowBatch<ChangelogEntry>?, _ owner: Ownership, _ rebuilds: Int) {
        guard let owned = owned(by: owner) else { return }
        owned.decoding.remove(.variants)
        // An index that was made anew meanwhile begins with other rows.
        if owned.lifecycle.rebuilds == rebuilds { owned.unfolded = batch }
        owned.readable.insert(.variants)
        turnSoon()
    }

    /// The step of the index that a changelog record is; nil for epochs and progress, and for records that do not count.
    private func change(
        _ row: RowBatch<ChangelogEntry>.Row, _ epochs: inout EpochFold, _ progress: inout ProgressRow?,
        _ owned: OwnedPartition
    ) -> IndexChange? {
        switch valid(row, &epochs, &owned.changelog, in: owned.id) {
        case .change(let change): return change
        case .progress(let read):
            // In a recreated changelog, a fenced owner's offsets may rely on its rows in `parked`, which do not count.
            if let epoch = row.epoch, GroupEpoch.isStranded(epoch, at: row.offset) { return nil }
            progress = read
            return nil
        case .epoch, nil: return nil
        }
    }

    /// The entry of a record that counts. nil if it cannot be read, or if its writer's time was over: a later owner's
    /// record stands before it.
    func valid<Entry: FoldedEntry>(
        _ row: RowBatch<Entry>.Row, _ epochs: inout EpochFold, _ fold: inout TopicFold, in partition: PartitionID
    ) -> Entry? {
        let entry: Entry
        switch row.entry {
        case .success(let read): entry = read
        case .failure(let failure):
            counters.countFailure(failure.code)
            logger.error("\(failure)", ["code": .string(failure.code)])
            return nil
        }
        let opened = entry.fence?.epoch
        if epochs.isUnopened(written: row.epoch, opened: opened, at: row.offset) {
            note(
                RecordFailure.header(
                    place: "\(RecordOrigin(topic: fold.topic, partition: partition, offset: row.offset))", name: EventHeader.epoch,
                    reason: "nobody has opened the epoch \(row.epoch ?? 0), so its row does not count"))
        }
        guard epochs.counts(written: row.epoch, opened: opened, at: row.offset) else {
            if let key = RecordKey(row.key) { fold.lifecycle.ignore(key, at: row.offset) }
            return nil
        }
        return entry
    }

    /// The next step of a partition whose index may hold all that was there before this owner: the fence, then its jobs.
    func noteRestored(_ owned: OwnedPartition, isAtEnd: Bool = false) {
        guard !owned.isRestored else { return }
        let end = owned.lifecycle.restoreEnd
        // Compaction may leave a gap at the end, so where the log says how far reading has come, that counts.
        let isRead =
            owned.unfolded == nil && !owned.decoding.contains(.variants)
            && (ports.consumer.position(.variants, owned.id).map { $0 >= end } ?? isAtEnd)
        switch owned.lifecycle.advance(isRead: isRead, at: monotonic) {
        case nil: break
        case .fence where isRecreated(owned): stop(owned, .variants, .unopened)
        case .fence(let attempt):
            owned.changelog.bid(after: owned.index.checkpoint)
            tasks.yield { [owner = owned.ownership] in await self.fence(owner, attempt) }
        case .own:
            owned.ledger.restored(owned.index.progress, at: monotonic)
            logQuarantined(of: owned)
            if owned.outcomeTail == nil {
                tasks.yield { [owner = owned.ownership] in await self.recoverOutcomes(owner) }
            } else {
                look(at: owned)
            }
            resumePendingJobs(of: owned)
            noteParked(owned)
            logger.debug("The partition is restored.", ["partition": .string("\(owned.id)")])
            turnSoon()
            if let text = endRestore() { logger.info("\(text)") }
        }
    }

    /// Ends the progress once nothing restores; what there is to say then.
    func endRestore() -> String? {
        guard partitions.values.allSatisfy(\.isRestored), let end = duties.restore.end(at: monotonic) else {
            return nil
        }
        counters.restoredRows += end.rows
        return end.text
    }

    /// Of each key that an earlier owner wrote behind the fence, the valid row is appended once more.
    func republish(_ owned: OwnedPartition) {
        // A progress row that is on its way must not be overtaken by the one before it.
        guard owned.ledger.isIdle else { return }
        let keys = owned.lifecycle.keysToRepublish { $0.source.map { owned.state.isInFlight($0) } ?? false }
        guard !keys.isEmpty, let rows = validRows(of: keys.keys, owned) else { return }
        owned.lifecycle.beginRepublishing()
        logger.notice(
            "A fenced owner wrote to the partition: the valid rows are published again.",
            ["partition": .string("\(owned.id)"), "rows": .int(Int64(rows.count))])
        tasks.yield { [ports, owner = owned.ownership] in
            let results = await ports.log.append(rows, as: owner)
            await self.republished(owner, keys, results)
        }
    }

    private func republished(_ owner: Ownership, _ keys: [RecordKey: Int64], _ results: [AppendResult]) {
        guard let owned = owned(by: owner) else { return }
        let failure = results.lazy.compactMap(\.failure).first
        if let failure { counters.countFailure(failure.code) }
        owned.lifecycle.republished(failure == nil ? keys : [:])
    }

    /// The newest row of each key that counts, the epoch row last. nil if the index cannot be asked now.
    func validRows(of keys: some Sequence<RecordKey>, _ owned: OwnedPartition) -> [NewRecord]? {
        do throws(IndexFailure) {
            var (rows, opening): ([NewRecord], [NewRecord]) = ([], [])
            for key in keys {
                let row = try validRow(of: key, owned)
                if case .epoch = key { opening.append(row) } else { rows.append(row) }
            }
            return rows + opening
        } catch {
            if case .corrupt = error { rebuild(owned, error) } else { note(error) }
            return nil
        }
    }

    private func validRow(of key: RecordKey, _ owned: OwnedPartition) throws(IndexFailure) -> NewRecord {
        let record: NewRecord
        switch key {
        case .epoch, .job, .parked: return epochRow(of: owned, isClean: false)
        case .progress:
            let empty = ProgressRow(partition: owned.id, topics: [:], store: owned.store, at: now)
            record = (owned.ledger.written ?? owned.index.progress ?? empty).newRecord()
        case .source(let source):
            let row = try owned.index.snapshot(of: source).source
            record = row?.newRecord(partition: owned.id) ?? SourceRow.drop(source, partition: owned.id)
        case .variant(let source, let spec):
            let row = try owned.index.snapshot(of: source).variants.first { $0.spec == spec }
            record = row?.newRecord(partition: owned.id) ?? VariantRow.drop(spec, of: source, partition: owned.id)
        }
        return record.announced(in: owned.epoch)
    }
}
