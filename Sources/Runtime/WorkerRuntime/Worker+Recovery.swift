internal import Failures
internal import Ledger
internal import Partition
internal import Ports
internal import Positions
internal import Records
internal import Telemetry

/// Recovery of outcomes: jobs whose outcome a killed owner left in the log are not repeated.
extension Worker {
    /// Reads the outcomes that no progress row covers. The partition's topics begin after that.
    func recoverOutcomes(_ owner: Ownership) async { await untilOver { await readOutcomes(of: owner) } }

    private func readOutcomes(of owner: Ownership) async -> Bool {
        guard let owned = recovering(owner) else { return true }
        do throws(LogFailure) {
            var committed: [Topic: Int64] = [:]
            for topic in Topic.consumed { committed[topic] = ports.consumer.committed(topic, owner.partition) }
            // The topics begin with the progress that was left, and so must the outcomes. This owner's own row may
            // cover later ones: a zombie's row came between two attempts to append it.
            let row = owned.left?.answers == nil ? owned.index.progress : owned.left
            let tail = try await answers(of: owner.partition, into: OutcomeTail(after: row, committed: committed))
            guard let owned = recovering(owner) else { return true }
            owned.outcomeTail = tail
            // The epoch row may have been acknowledged meanwhile.
            if owned.parkedEnd > 0 { owned.outcomeTail?.opened(owned.parked.epoch, at: owned.parkedEnd - 1) }
            if tail.count > 0 {
                logger.info(
                    "Jobs that an earlier owner completed before it ended are not repeated.",
                    ["partition": .string("\(owner.partition)"), "jobs": .int(Int64(tail.count))])
            }
            look(at: owned)
            return true
        } catch {
            note(error, of: owner.partition)
            return false
        }
    }

    /// Reads the outcomes that earlier owners appended after this one had read them for the lanes, and before its epoch row
    /// in `parked`. A later outcome has a tombstone that does not count.
    func recoverParkedEnds(_ owner: Ownership) async { await untilOver { await readParkedEnds(of: owner) } }

    private func readParkedEnds(of owner: Ownership) async -> Bool {
        guard let owned = owned(by: owner), !phase.isEnded, !owned.knowsParkedEnds else { return true }
        guard let start = owned.outcomeTail?.outcomesRead else { return false }
        do throws(LogFailure) {
            let end = try await ports.log.bounds(.outcomes, owner.partition).upperBound
            var next = start
            while next < end {
                let records = try await ports.log.read(.outcomes, owner.partition, from: next, limit: 4_096)
                guard let last = records.last else { break }
                guard let owned = self.owned(by: owner) else { return true }
                for record in records where hasRow(endedBy: record, owned) { owned.outcomeTail?.readParkedEnd(record) }
                next = last.offset + 1
            }
            guard let owned = self.owned(by: owner) else { return true }
            owned.knowsParkedEnds = true
            return true
        } catch {
            note(error, of: owner.partition)
            return false
        }
    }

    /// Whether the table, which is whole, has the row of the job that an outcome ends.
    private func hasRow(endedBy outcome: Record, _ owned: OwnedPartition) -> Bool {
        guard let ended = ParkedKey(endedBy: outcome) else { return false }
        do throws(IndexFailure) { return try owned.index.parked.parked(ended.source, ended.identity) != nil } catch {
            note(error)
            return true
        }
    }

    /// The partition, if its outcomes must still be read. An index that is rebuilt meanwhile shows nothing: once it is
    /// restored, recovery begins again.
    private func recovering(_ owner: Ownership) -> OwnedPartition? {
        guard let owned = owned(by: owner), owned.outcomeTail == nil,
            owned.isRestored, !phase.isEnded
        else { return nil }
        return owned
    }

    /// Reads the outcome topics. One question gets their ends, and topics without news are not read.
    ///
    /// If the partition of dead letters or of an old retry topic cannot be asked, it is left out: jobs that it completes
    /// may be repeated. No job can be completed without `outcomes`, or parked without `parked`, so those are waited for.
    nonisolated func answers(
        of partition: PartitionID, into tail: OutcomeTail
    ) async throws(LogFailure) -> OutcomeTail {
        var tail = tail
        let sights = await ports.log.sights(at: OutcomeTail.topics.map { LogPoint($0, partition, nil) })
        for (topic, sight) in zip(OutcomeTail.topics, sights) {
            let bounds: Range<Int64>
            switch sight {
            case .success(let sight): bounds = sight.bounds
            case .failure(let failure) where topic == .outcomes || topic == .parked: throw failure
            case .failure(let failure):
                await note(failure, of: partition)
                continue
            }
            let unread = tail.unread(topic, in: bounds)
            var next = unread.lowerBound
            while next < unread.upperBound {
                let records = try await ports.log.read(topic, partition, from: next, limit: 4_096)
                // Offsets have gaps, at the end too.
                guard let last = records.last else { break }
                for record in records { tail.read(record) }
                next = last.offset + 1
            }
            tail.finish(topic, at: max(next, unread.upperBound))
        }
        return tail
    }
}
