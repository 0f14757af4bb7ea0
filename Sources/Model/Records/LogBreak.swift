/// Evidence that a topic's log is not the log that was read: the topic was recreated, or an unclean election truncated
/// it.
package enum LogBreak: Sendable, Hashable {
    /// The log ends before the last read offset.
    case shorter(end: Int64, read: Int64)
    /// The log begins after the last read offset: records between were removed unread.
    case later(start: Int64, read: Int64)
    /// The fingerprint's offset has another record, or none.
    case otherRecord(at: Int64)
    /// The consumer's position went back without a rewind.
    case wentBack(from: Int64, to: Int64)
    /// No owner has written to it, and owners have committed offsets of the partition's jobs.
    case unopened

    /// Observation in words, for messages.
    package var reason: String {
        switch self {
        case .shorter(let end, let read): "it ends at offset \(end), and was read up to \(read)"
        case .later(let start, let read): "it begins at offset \(start), and was read up to \(read)"
        case .otherRecord(let offset): "the record at offset \(offset) is not the record that was read"
        case .wentBack(let from, let to): "reading went back from offset \(from) to \(to)"
        case .unopened: "it has no row of an owner, and the group has committed offsets of the partition's jobs"
        }
    }
}
