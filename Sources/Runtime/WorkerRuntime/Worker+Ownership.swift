internal import Clocks
internal import Jobs
internal import Ledger
internal import Partition
internal import Permits
internal import Ports
internal import Positions
internal import Records
internal import Telemetry

/// Partitions are taken up behind a fence in the changelog (`PartitionLifecycle`), and left in good order where there is time.
extension Worker {
    /// Returns where the folded topics are to be read from.
    func begin(
        _ partition: PartitionID, _ epoch: Int64, _ folded: ByFoldedTopic<Range<Int64>>
    ) -> ByFoldedTopic<Int64> {
        do {
            let index = try openIndex(partition, folded.variants)
            let missing = try checkParked(index, partition, folded.parked)
            let start = index.position ?? folded.variants.lowerBound
            let starts = ByFoldedTopic(
                variants: start, parked: index.parked.parkedCheckpoint?.position ?? folded.parked.lowerBound)
            assignments += 1
            idle.interrupt()
            var state = PartitionState(
                partition, rules: configuration.partition,
                seed: configuration.seed &+ UInt64(UInt32(bitPattern: partition.number)) &+ UInt64(bitPattern: epoch),
                firstFlight: assignments << 32)
            var none: [JobEffect] = []
            state.reduce(.folded(start), at: moment, into: &none)
            let owned = OwnedPartition(
                partition, epoch: epoch, index: index, state: state, folded: folded,
                kept: keptProgress.removeValue(forKey: partition), ledger: ProgressLedger(nil, at: monotonic))
            for topic in Topic.folded { owned.watches[topic].begin(fingerprint: nil, at: monotonic) }
            partitions[partition] = owned
            duties.hosts.assigned(at: monotonic)
            ownSlots()
            duties.restore.begin(owned.lifecycle.rowsLeft, at: monotonic)
            if let missing {
                stop(owned, .parked, missing)
                return starts
            }
            // Nothing to read means that nothing is said to be readable.
            if start >= folded.variants.upperBound { noteRestored(owned) }
            return starts
        } catch {
            end(error)
            return folded.starts
        }
    }

    /// Appends the epoch row that opens the ownership, behind the first progress row and the valid rows of ignored keys: it
    /// takes the place of the epoch row by which those are known.
    func fence(_ owner: Ownership, _ attempt: Int) async { await untilOver { await appendFence(owner, attempt) } }

    private func appendFence(_ owner: Ownership, _ attempt: Int) async -> Bool {
        guard let owned = fencing(owner, attempt) else { return true }
        let isProven = await proveIndex(of: owned, .variants)
        let progress = isProven ? await firstProgressRow(of: owned) : nil
        // An index that was found damaged meanwhile is restored first: it knows nothing of what holds.
        guard fencing(owner, attempt) === owned else { return true }
        guard let (progress, store) = progress else { return false }
        let keys = owned.lifecycle.fencedKeys
        guard let rows = validRows(of: keys.keys, owned) else {
            owned.lifecycle.abandonFence()
            return true
        }
        owned.takeOver(store)
        let first = marked(progress, owned, naming: []).newRecord(in: owned.epoch)
        let results = await ports.log.append(rows + [first, epochRow(of: owned, isClean: false)], as: owner)
        guard let offset = results.last?.offset, results.allSatisfy({ $0.offset != nil }) else {
            if let failure = results.lazy.compactMap(\.failure).first { note(failure) }
            return false
        }
        guard fencing(owner, attempt) === owned else { return true }
        owned.lifecycle.fenced(at: offset, republished: keys)
        noteRestored(owned)
        settle()
        return true
    }

    /// The partition, if this fence is still to be appended.
    func fencing(_ owner: Ownership, _ attempt: Int) -> OwnedPartition? {
        guard let owned = owned(by: owner), !phase.isEnded,
            owned.lifecycle.isFencing(attempt)
        else { return nil }
        return owned
    }

    /// Who owns the partition; clean: nothing was left under way.
    func epochRow(of owned: OwnedPartition, in topic: Topic = .variants, isClean: Bool) -> NewRecord {
        let epoch = owned[fold: topic].epoch
        return EpochRow(partition: owned.id, epoch: epoch, owner: configuration.owner, isClean: isClean, at: now)
            .newRecord(topic: topic).announced(in: epoch)
    }

    /// The ownership, the epochs to announce in (nil in `parked`: not yet), and how far the changelog is folded; nil if the
    /// flight's partition has another owner, or should have: nobody may see our writes then.
    func ownership(of flight: FlightID) -> (Ownership, epoch: Int64, parkedEpoch: Int64?, folded: Int64)? {
        guard let owned = partitions[flight.partition], owned.state.has(flight) else { return nil }
        return (owned.ownership, owned.epoch, owned.openParkedEpoch, owned.lifecycle.folded)
    }

    /// The partition goes to another owner: what runs is finished, and nothing new is begun.
    func leave(_ partition: PartitionID) {
        duties.stopped.remove(partition)
        guard let owned = partitions[partition] else { return ports.consumer.release(partition) }
        owned.lifecycle.leave()
        // Idle ones are gone at once: said for each, it would be dozens of lines.
        if leavingLoggedAt.map({ monotonic - $0 >= .seconds(1) }) ?? true {
            leavingLoggedAt = monotonic
            logger.info("Partitions go to another worker: what runs is finished.", ["underWay": .int(Int64(underWay))])
        }
        if owned.openParkedEpoch == nil { owned.outbox.leave() }
        feed(.leaving, to: owned)
        settle()
    }

    /// Lets go of the partitions that have nothing under way any more, with a last word on how far they came.
    func finishLeaving() {
        for owned in partitions.values
        where owned.isLeaving && owned.ledger.isIdle && !duties.hosts.isPassing {
            if owned.state.isUnderWay || !owned.outbox.isEmpty {
                // It may end without a last word, and that is not the end of its worker.
                if owned.ledger.blames { name(owned) }
            } else if !writeProgress(of: owned, isLast: true) {
                release(owned.id)
            }
        }
    }

    /// Fetches are cancelled; whatever else still runs finishes unseen: its results find no partition to go to. Permits
    /// are free when what holds them has ended.
    func release(_ partition: PartitionID) {
        duties.stopped.remove(partition)
        guard let owned = partitions.removeValue(forKey: partition) else { return }
        idle.interrupt()
        for flight in owned.state.flightIDs {
            fetches[flight]?.cancel()
            // A flight that waits for the log alone must not delay a quarantined job that runs alone: the log may take
            // long to respond.
            if !owned.state.isAtWork(flight) || scheduler.isAnnouncing(flight) { scheduler.forget(flight) }
        }
        scheduler.closeLog(of: partition)
        ownSlots()
        keptProgress[partition] = KeptProgress(
            topics: progress(of: owned).topics, row: owned.ledger.written ?? owned.left,
            isOwn: owned.ledger.written != nil)
        keptIndexes[partition] = owned.index
        if !owned.isRestored {
            duties.restore.leave(owned.lifecycle.rowsLeft)
            _ = endRestore()
        }
        ports.consumer.release(partition)
    }

    func closeIndexes() {
        for owned in partitions.values { owned.index.close() }
        for index in keptIndexes.values { index.close() }
        (partitions, keptIndexes) = ([:], [:])
    }
}
