/// Offsets of a log, most of them next to each other: a bit for each.
package struct OffsetSet: Sendable, Equatable {
    /// 64 offsets in each, by the first one's number divided by 64.
    private var words: [Int64: UInt64] = [:]
    package private(set) var count = 0

    package init() {}

    package mutating func insert(_ offset: Int64) {
        if !contains(offset) { count += 1 }
        words[offset >> 6, default: 0] |= 1 << (offset & 63)
    }

    package func contains(_ offset: Int64) -> Bool { (words[offset >> 6] ?? 0) & 1 << (offset & 63) != 0 }
}
