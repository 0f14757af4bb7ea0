internal import Failures
internal import ImageModel
internal import Ledger
internal import Partition
internal import Ports
internal import Positions
internal import Records
internal import Telemetry

/// A changelog that is recreated under its owner: what the index holds is published in the new one, in a later epoch.
extension Worker {
    /// Asks, when it is time, whether the changelog is still the one that the index folds.
    func lookAtChangelog(of owned: OwnedPartition) {
        guard !owned.isLeaving, owned.watches[.variants].beginLook(at: monotonic) else { return }
        let watch = owned.watches[.variants]
        let end = max(owned.lifecycle.folded, owned.lifecycle.restoreEnd)
        let progress = TopicProgress(next: end, anchor: watch.readsAnchor ? watch.anchor : nil)
        looks.ask(
            LogLook(
                owner: owned.ownership, progress: progress, isFirst: false,
                point: LogPoint(.variants, owned.id, progress.anchor?.offset)))
    }

    func lookedAtChangelog(_ look: LogLook, _ sight: LogSight, _ owned: OwnedPartition) throws(LogFailure) {
        var progress = look.progress
        // Compaction may have taken the record away.
        if sight.timestamp == nil { progress?.anchor = nil }
        var why = owned.watches[.variants].proof ?? progress?.breakIn(sight.bounds, anchored: sight.timestamp)
        // A reader goes on in silence behind what was removed.
        if let read = owned.readAtLook, read < sight.bounds.lowerBound {
            why = why ?? .later(start: sight.bounds.lowerBound, read: read)
        }
        if let why { return try restart(owned, in: sight.bounds, why) }
        owned.readAtLook = max(owned.lifecycle.folded, owned.lifecycle.changelogStart)
        owned.watches[.variants].found(at: monotonic)
        owned.readable.insert(.variants)
    }

    /// A row that landed before what was folded when it was sent is in another log, and reading goes on behind it in silence.
    /// Once the index has folded rows of that log, its anchors are of it, and nothing tells later which rows it lacks.
    func landed(at offset: Int64, behind folded: Int64, of flight: FlightID) {
        guard let owned = partitions[flight.partition], owned.state.has(flight), owned.isOpen(.variants) else { return }
        let why = LogBreak.shorter(end: offset, read: folded)
        suspect(.variants, owned, .recreated(topic: .variants, partition: owned.id, why))
    }

    private func restart(_ owned: OwnedPartition, in changelog: Range<Int64>, _ why: LogBreak) throws(LogFailure) {
        let failure = LogFailure.recreated(topic: .variants, partition: owned.id, why)
        counters.countFailure(failure.code)
        logger.error("\(failure)", ["code": .string(failure.code), "partition": .string("\(owned.id)")])
        let left = owned.isRestored ? 0 : owned.lifecycle.rowsLeft
        do throws(IndexFailure) { try owned.restart(in: changelog) } catch {
            owned.watches[.variants].suspect(why)
            owned.watches[.variants].failed(at: monotonic)
            if case .corrupt = error { rebuild(owned, error) } else { note(error) }
            return
        }
        duties.restore.leave(left)
        duties.restore.begin(owned.lifecycle.rowsLeft, at: monotonic)
        owned.watches[.variants].begin(anchor: nil, at: monotonic)
        feed(.fencedAgain(changelog.lowerBound), to: owned)
        try ports.consumer.rewind(.variants, owned.id, to: changelog.lowerBound)
        owned.readable.insert(.variants)
        noteRestored(owned)
    }

    /// Rows tell of a later epoch than the owner's, and no later owner wrote them: it goes on above that.
    func outbid(_ epoch: Int64, _ owned: OwnedPartition) {
        logger.warning(
            "The changelog has rows in the epoch of an owner of an earlier one of this name: this owner goes on in a later epoch.",
            ["partition": .string("\(owned.id)"), "epoch": .string("\(owned.epoch)"), "other": .string("\(epoch)")])
        if !owned.isRestored { duties.restore.leave(owned.lifecycle.rowsLeft) }
        owned.outbid(epoch)
        duties.restore.begin(owned.lifecycle.rowsLeft, at: monotonic)
        feed(.fencedAgain(owned.lifecycle.folded), to: owned)
    }

    /// Appends every row that the index holds, behind a first word of the epoch: rows of one that nobody has opened count
    /// for nothing. All is in the log when this returns, or the fence is another attempt's.
    func publishIndex(of owner: Ownership, _ attempt: Int) async {
        var place: Int64?
        while let owned = fencing(owner, attempt) {
            do {
                var (next, records): (Int64, [NewRecord]) = (0, [epochRow(of: owned, isClean: false)])
                if let place {
                    let page = try owned.index.page(after: place, limit: 256)
                    guard let last = page.last else { return }
                    next = last.place
                    records = page.flatMap { $0.snapshot.records(of: owned.id) }.map { $0.announced(in: owned.epoch) }
                }
                guard let failure = await ports.log.append(records, as: owner).lazy.compactMap(\.failure).first else {
                    place = next
                    continue
                }
                note(failure)
            } catch {
                if case .corrupt = error { return rebuild(owned, error) }
                note(error)
            }
            await pauseAfterRefusal()
        }
    }
}

extension SourceSnapshot {
    fileprivate func records(of partition: PartitionID) -> [NewRecord] {
        [source.map { $0.newRecord(partition: partition) }].compactMap(\.self)
            + variants.map { $0.newRecord(partition: partition) }
    }
}
