package import Records

extension Log {
    /// The dead letters of a partition that nobody discarded, in the order that they came.
    ///
    /// - Parameter withBodies: false where they are only counted: a body may have as many bytes as a job.
    package func standingDeadLetters(
        in partition: PartitionID, withBodies: Bool = true
    ) async throws(LogFailure) -> (letters: [DeadLetter], unreadable: [RecordFailure]) {
        let bounds = try await bounds(.dead, partition)
        var records: [Record] = []
        var next = bounds.lowerBound
        while next < bounds.upperBound {
            let slice = try await read(.dead, partition, from: next, limit: withBodies ? 1000 : 100)
            guard let last = slice.last else { break }
            records += slice.map { record in
                var record = record
                if !withBodies, record.value != nil { record.value = [] }
                return record
            }
            next = last.offset + 1
        }
        return DeadLetter.standing(records)
    }
}
