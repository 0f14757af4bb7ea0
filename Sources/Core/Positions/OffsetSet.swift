/// Offsets of a log, most of them next to each other: a bit for each.
package struct OffsetSet: Sendable, Equatable {
    /// 64 offsets in each, by the first one's number divided by 64.
    private var words: [Int64: UInt64] = [:]

    package init() {}

    package mutating func insert(_ offset: Int64) { words[offset >> 6, default: 0] |= 1 << (offset & 63) }

    package func contains(_ offset: Int64) -> Bool { (words[offset >> 6] ?? 0) & 1 << (offset & 63) != 0 }

    /// How many of them are not below an offset.
    package func count(from start: Int64) -> Int {
        let (first, cut) = (start >> 6, ~0 << UInt64(start & 63)) as (Int64, UInt64)
        return words.reduce(0) { count, word in
            word.key < first ? count : count + (word.key == first ? word.value & cut : word.value).nonzeroBitCount
        }
    }
}
