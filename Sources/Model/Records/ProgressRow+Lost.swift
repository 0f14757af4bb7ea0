package import Clocks
internal import JSONText

extension ProgressRow {
    /// Jobs that retention removed before an owner read them. Recorded for people, who may look after the worker has
    /// ended.
    package struct Lost: Sendable, Hashable {
        package let records: Int64
        /// Time at which the last of them were found missing.
        package let at: WallTime
        /// Upper bound of the count.
        package static let most: Int64 = 1 << 40
        /// Time for which a loss is reported after its last record.
        package static let span = Duration.days(1)

        package init(records: Int64, at: WallTime) { (self.records, self.at) = (records, at) }

        /// Whether the loss is still reported. The magnitude of the difference counts, in case another clock wrote the
        /// time.
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
