import EmbeddedLog
import Ports
import Records

extension Bench {
    /// The newest record of each parked job.
    func parkedRecords() async throws -> [Record] {
        let log = try self.log
        var rows: [[UInt8]: Record] = [:]
        for number in 0..<Int32(log.partitionCount) {
            for record in try await log.read(.parked, PartitionID(number), from: 0, limit: 100_000)
            where ParkedKey(record) != nil {
                rows[record.key] = record.value == nil ? nil : record
            }
        }
        await log.close()
        return rows.values.sorted { ($0.partition.number, $0.offset) < ($1.partition.number, $1.offset) }
    }
}
