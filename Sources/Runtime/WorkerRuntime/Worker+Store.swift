internal import Clocks
internal import Failures
internal import ImageModel
internal import Ledger
internal import Partition
internal import Ports
internal import Positions
internal import Records
internal import Telemetry

/// The store that rows are bound to. Rows name files of one store, and jobs wait while another one is mounted.
extension Worker {
    /// Content of a partition's first progress row: outcomes and progress as before, with the store that it is bound
    /// to. nil while its jobs must wait for another store.
    func firstProgressRow(of owned: OwnedPartition) async -> (ProgressRow, StoreIdentity)? {
        do {
            let sight = try await ports.store.sight()
            // The index may belong to another ownership by now.
            guard partitions[owned.id] === owned else { return nil }
            let rows = owned.index.progress?.store
            let binding = StoreBinding(
                rows: rows, hasRows: try !owned.index.isEmpty(), found: sight.identity, isEmpty: sight.isEmpty,
                isWhole: sight.mismatchedPart == nil, adopts: configuration.adoptsStore)
            guard binding != .mismatched else {
                let expected = rows ?? sight.identity
                if let part = sight.mismatchedPart, expected == sight.identity {
                    throw StoreFailure.mismatched(part.place, expected: expected, found: part.identity)
                }
                throw StoreFailure.mismatched(sight.place, expected: expected, found: sight.identity)
            }
            let store = try await ports.store.adopt()
            if binding == .bound, store != rows {
                throw StoreFailure.mismatched(sight.place, expected: rows, found: store)
            }
            if let rows, store != rows {
                logger.notice(
                    "The rows of a partition are now bound to another store, because store.adopt is set.",
                    ["partition": .string("\(owned.id)"), "was": .string("\(rows)"), "is": .string("\(store)")])
            }
            var row = owned.index.progress ?? ProgressRow(partition: owned.id, topics: [:], at: now)
            if row.answers == nil { row.answers = try await answers(of: owned.id, into: OutcomeTail(after: [:])).ends }
            return (row, store)
        } catch let failure as StoreFailure {
            note(failure, of: owned.id)
        } catch let failure as LogFailure {
            note(failure, of: owned.id)
        } catch let failure as IndexFailure {
            if case .corrupt = failure { rebuild(owned, failure) } else { note(failure) }
        } catch {}
        return nil
    }

    /// Whether a wanted file is known to be missing. If the store itself is unavailable, that shows nothing about the
    /// file. A store that does not know is assumed to have it: reading the file will show.
    func isGone(_ location: String, bytes: Int) -> Bool {
        guard ports.store.isGone(location, bytes: bytes) == true else { return false }
        if duties.store.absence == nil { duties.store.missed(ports.store.absence) }
        return true
    }
}
