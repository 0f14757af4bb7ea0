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
    /// Of the rows among them that may stay long: marks and progress are said again soon.
    let anchors: ChangelogAnchors

    /// nil of no records.
    init?(_ records: [Record]) {
        guard let last = records.last else { return nil }
        end = last.offset + 1
        var anchors = ChangelogAnchors()
        rows = records.map { record in
            let entry = Result { () throws(RecordFailure) in try ChangelogEntry(record) }
            if record.value != nil, case .success(.change) = entry {
                anchors.note(LogAnchor(offset: record.offset, timestamp: record.timestamp))
            }
            return Row(entry: entry, epoch: record.epoch, key: record.key, offset: record.offset)
        }
        self.anchors = anchors
    }
}
