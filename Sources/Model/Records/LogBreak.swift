/// Why the log of a topic is not the one that was read: the topic was recreated, or an unclean election truncated it.
package enum LogBreak: Sendable, Hashable {
    /// It ends before what was read.
    case shorter(end: Int64, read: Int64)
    /// It begins behind what was read: what came between was removed unread.
    case later(start: Int64, read: Int64)
    /// Another record stands at the anchor's offset, or none.
    case otherRecord(at: Int64)
    /// Reading went back by itself.
    case wentBack(from: Int64, to: Int64)

    /// For people: what was seen.
    package var reason: String {
        switch self {
        case .shorter(let end, let read): "it ends at offset \(end), and was read up to \(read)"
        case .later(let start, let read): "it begins at offset \(start), and was read up to \(read)"
        case .otherRecord(let offset): "another record than was read stands at offset \(offset)"
        case .wentBack(let from, let to): "reading went back from offset \(from) to \(to)"
        }
    }
}
