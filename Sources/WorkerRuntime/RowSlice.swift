internal import Ports
internal import Records

/// Records of the changelog, decoded: what reading them costs needs no owner, so that any core may pay it.
struct RowSlice: Sendable {
    struct Row: Sendable {
        /// What it says, or why it can't be read.
        let entry: Result<ChangelogEntry, RecordFailure>
        /// The epoch of the owner who wrote it.
        let epoch: Int64?
        let key: [UInt8]
        let offset: Int64
    }

    let rows: [Row]
    /// The position after the last of them.
    let end: Int64

    /// nil of no records.
    init?(_ records: [Record]) {
        guard let last = records.last else { return nil }
        end = last.offset + 1
        rows = records.map { record in
            Row(
                entry: Result { () throws(RecordFailure) in try ChangelogEntry(record) }, epoch: record.epoch,
                key: record.key, offset: record.offset)
        }
    }
}
