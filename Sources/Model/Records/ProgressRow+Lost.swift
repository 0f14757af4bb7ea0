package import Clocks
internal import JSONText

extension ProgressRow {
    /// Jobs that retention removed before an owner had read them: for people, who look after the worker has ended.
    package struct Lost: Sendable, Hashable {
        package let records: Int64
        /// When the last of them were missed.
        package let at: WallTime
        /// More is counted as so many.
        package static let most: Int64 = 1 << 40
        /// A loss is reported for this time after its last record.
        package static let span = Duration.days(1)

        package init(records: Int64, at: WallTime) { (self.records, self.at) = (records, at) }

        /// Whatever the clock that it was written by.
        package func isRecent(at now: WallTime) -> Bool { (now - at).magnitude < Self.span }
    }
}

extension JSONWriter {
    mutating func lost(_ lost: ProgressRow.Lost) {
        key("lost")
        beginObject()
        field("records", lost.records)
        field("at", lost.at)
        endObject()
    }
}

extension JSONReader {
    mutating func lost() throws(JSONFailure) -> ProgressRow.Lost {
        var (records, at): (Int64?, WallTime?)
        try openObject()
        while let key = try nextKey() {
            switch key {
            case "records": records = try logOffset()
            case "at": at = try time()
            default: try skip()
            }
        }
        return ProgressRow.Lost(records: try records.field("records"), at: try at.field("at"))
    }
}
