internal import Ports
internal import Records

/// A batch of decoded records of a folded topic. Decoding needs no owner, so any core may do it.
struct RowBatch<Entry: FoldedEntry>: Sendable {
    struct Row: Sendable {
        /// The row's content, or the reason why it cannot be read.
        let entry: Result<Entry, RecordFailure>
        /// Epoch of the owner that wrote the row.
        let epoch: Int64?
        let key: [UInt8]
        let offset: Int64
    }

    let rows: [Row]
    /// Position after the last row.
    let end: Int64
    /// Fingerprints of the records that may stay for long.
    let fingerprints: ChangelogFingerprints

    /// Whether it has an epoch row of any owner, also of an earlier one.
    var hasEpochRow: Bool { rows.contains { if case .success(let entry) = $0.entry { entry.fence != nil } else { false } } }

    /// nil if `records` is empty.
    init?(_ records: [Record]) {
        guard let last = records.last else { return nil }
        end = last.offset + 1
        var fingerprints = ChangelogFingerprints()
        rows = records.map { record in
            let entry = Result { () throws(RecordFailure) in try Entry(record) }
            if record.value != nil, case .success(let read) = entry, read.isLasting {
                fingerprints.note(RecordFingerprint(offset: record.offset, timestamp: record.timestamp))
            }
            return Row(entry: entry, epoch: record.epoch, key: record.key, offset: record.offset)
        }
        self.fingerprints = fingerprints
    }
}
