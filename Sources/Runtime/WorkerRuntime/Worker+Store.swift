internal import Clocks
internal import Failures
internal import ImageModel
internal import Ledger
internal import Partition
internal import Ports
internal import Positions
internal import Records
internal import Telemetry

/// Rows name files of one store: jobs wait while what is there is not that one.
extension Worker {
    /// What a partition's first progress row tells of answers and progress: as before; and the store that it is bound to.
    /// nil while its jobs must wait for another store.
    func firstProgressRow(of owned: OwnedPartition) async -> (ProgressRow, StoreIdentity)? {
        do {
            let sight = try await ports.store.sight()
            // Its index may be another ownership's by now.
            guard partitions[owned.id] === owned else { return nil }
            let rows = owned.index.progress?.store
            let binding = StoreBinding(
                rows: rows, hasRows: try !owned.index.isEmpty(), found: sight.identity, isEmpty: sight.isEmpty,
                isWhole: sight.foreignPart == nil, adopts: configuration.adoptsStore)
            guard binding != .foreign else {
                let expected = rows ?? sight.identity
                if let part = sight.foreignPart, expected == sight.identity {
                    throw StoreFailure.foreign(part.place, expected: expected, found: part.identity)
                }
                throw StoreFailure.foreign(sight.place, expected: expected, found: sight.identity)
            }
            let store = try await ports.store.adopt()
            if binding == .bound, store != rows {
                throw StoreFailure.foreign(sight.place, expected: rows, found: store)
            }
            if let rows, store != rows {
                logger.notice(
                    "The rows of a partition are bound to another store now, as store.adopt says.",
                    ["partition": .string("\(owned.id)"), "was": .string("\(rows)"), "is": .string("\(store)")])
            }
            var row = owned.index.progress ?? ProgressRow(partition: owned.id, topics: [:], at: now)
            if row.answers == nil { row.answers = try await answers(of: owned.id, into: AnswerTail(after: [:])).ends }
            return (row, store)
        } catch let failure as StoreFailure {
            note(failure, ["code": .string(failure.code), "partition": .string("\(owned.id)")])
        } catch let failure as LogFailure {
            note(failure, ["code": .string(failure.code), "partition": .string("\(owned.id)")])
        } catch let failure as IndexFailure {
            if case .corrupt = failure { rebuild(owned, failure) } else { note(failure) }
        } catch {}
        return nil
    }

    /// Whether a wanted file is known to be gone. Where the store itself is, that says nothing of the file. A store that does
    /// not know is believed to have it: who reads the file finds out.
    func isGone(_ location: String, bytes: Int) -> Bool {
        guard ports.store.isGone(location, bytes: bytes) == true else { return false }
        if duties.store.absence == nil { duties.store.missed(ports.store.absence) }
        return true
    }
}
