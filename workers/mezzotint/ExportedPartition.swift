import Ports
import Posix
internal import Records

/// One partition of `parked`, whose jobs move to `retry.1m`, where workers of 0.1.0 look for jobs that wait.
///
/// They do not move to their lanes. Workers refuse the ids of workers' own jobs there, and do not search lanes for records
/// that complete others: a job whose offset was not committed would run twice.
struct ExportedPartition {
    let partition: PartitionID
    /// Jobs that were moved.
    private(set) var jobs = 0
    /// Rows that were only deleted, because their jobs had ended or had been moved before.
    private(set) var ended = 0
    /// Rows that this version cannot read. They stay.
    private(set) var unreadable = 0

    init(_ partition: PartitionID) { self.partition = partition }

    /// - Parameter show: receives the row of each job that is moved.
    mutating func run(in log: any Log, writes: Bool, show: (ParkedRow) -> Void) async throws {
        let partition = partition
        var fold = ParkedFold()
        try await log.each(.parked, partition) { records in for record in records { fold.read(record) } }
        unreadable = fold.unreadable
        if fold.rows.isEmpty { return }
        let settled = try await Self.settled(partition, in: log)
        var (moved, all) = (0, 0)
        try await log.each(.parked, partition, limit: 256) { records in
            let rows = records.compactMap { record -> (row: ParkedRow, epoch: Int64)? in
                guard case .change(.park(let row, let offset))? = try? ParkedEntry(record),
                    fold.rows[ParkedKey(row.source, row.identity)] == offset
                else { return nil }
                return (row, max(fold.epoch, record.epoch ?? 0))
            }
            let left = rows.map(\.row).filter { !settled.contains(ParkedKey($0.source, $0.identity)) }
            for row in left { show(row) }
            (moved, all) = (moved + left.count, all + rows.count)
            guard writes else { return }
            try await log.publish(left.map { $0.retried(partition: partition, at: SystemTime.wall) })
            // Only a job that is durable there loses its row.
            try await log.publish(
                rows.map { ParkedRow.drop($0.source, $0.identity, partition: partition).announced(in: $1) })
        }
        (jobs, ended) = (moved, all - moved)
    }

    /// Jobs with an outcome whose tombstone is missing, and jobs that an interrupted export has moved.
    private static func settled(_ partition: PartitionID, in log: any Log) async throws -> Set<ParkedKey> {
        let key = RecordKey.progress(partition).bytes
        let rows = try await log.latest(.variants, partition, keyPrefix: key).filter { $0.key == key }
        let answers = rows.compactMap { record -> Int64? in
            guard case .progress(let row)? = try? ChangelogEntry(record) else { return nil }
            return row.answers?[.outcomes]
        }
        var settled = try await log.parkedCompletions(
            .retry1m, partition, from: log.partitionOffsets([.retry1m], [partition]).first?.start ?? 0)
        if let start = answers.max() { settled.formUnion(try await log.parkedCompletions(.outcomes, partition, from: start)) }
        return settled
    }
}
