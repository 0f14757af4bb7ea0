package import Records

extension Log {
    /// Dead letters of a partition that were not discarded, in their order.
    ///
    /// - Parameter withBodies: false to count them only: a body may be as large as a job.
    package func standingDeadLetters(
        in partition: PartitionID, withBodies: Bool = true
    ) async throws(LogFailure) -> (deadLetters: [DeadLetter], unreadable: [RecordFailure]) {
        var records: [Record] = []
        try await readDead(partition, limit: withBodies ? 1000 : 100) { record in
            var record = record
            if !withBodies, record.value != nil { record.value = [] }
            records.append(record)
        }
        return DeadLetter.standing(records)
    }
    /// Last record that removed each of these dead letters from the list, by id, as far as the records are kept.
    package func discards(ofDeadLetters ids: Set<String>) async throws(LogFailure) -> [String: DeadLetter.Discard] {
        var found: [String: DeadLetter.Discard] = [:]
        for partition in partitions {
            try await readDead(partition, limit: 1000) { record in
                if let discard = DeadLetter.Discard(record), ids.contains(discard.deadLetter.id) {
                    found[discard.deadLetter.id] = discard
                }
            }
        }
        return found
    }

    private func readDead(
        _ partition: PartitionID, limit: Int, _ take: (Record) -> Void
    ) async throws(LogFailure) {
        let bounds = try await bounds(.dead, partition)
        var next = bounds.lowerBound
        while next < bounds.upperBound {
            let batch = try await read(.dead, partition, from: next, limit: limit)
            guard let last = batch.last else { break }
            // Records that came meanwhile are not part of the answer.
            batch.prefix { $0.offset < bounds.upperBound }.forEach(take)
            next = last.offset + 1
        }
    }
}
