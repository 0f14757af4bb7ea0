/// A set of offsets, most of them adjacent, with one bit for each.
package struct OffsetSet: Sendable, Equatable {
    /// 64 offsets in each word, by the first offset divided by 64.
    private var words: [Int64: UInt64] = [:]

    package init() {}

    package mutating func insert(_ offset: Int64) { words[offset >> 6, default: 0] |= 1 << (offset & 63) }

    package func contains(_ offset: Int64) -> Bool { (words[offset >> 6] ?? 0) & 1 << (offset & 63) != 0 }

    /// Number of offsets in the set that are at or above `start`.
    package func count(from start: Int64) -> Int {
        let (first, cut) = (start >> 6, ~0 << UInt64(start & 63)) as (Int64, UInt64)
        return words.reduce(0) { count, word in
            word.key < first ? count : count + (word.key == first ? word.value & cut : word.value).nonzeroBitCount
        }
    }
}
