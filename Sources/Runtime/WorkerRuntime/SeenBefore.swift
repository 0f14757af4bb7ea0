/// A filter of two kilobytes for values seen before. `SnapshotCache` makes look-ups ahead, and keeps those for sources
/// that come a second time. So a source that comes once costs it nothing.
struct SeenBefore: Sendable {
    /// Marks in pairs, the newer first. One part of each word is the mark, another part its index.
    private var marks: [UInt16] = []
    /// A small number: two generations of 256 look-ups are kept, so a source that returns after a thousand others would
    /// not find its own.
    private static let pairs: UInt64 = 512

    /// - Parameter word: a word of a good hash. It is noted, and replaces the older of two others at its index. Returns
    ///   whether it was known.
    mutating func note(_ word: UInt64) -> Bool {
        if marks.isEmpty { marks = [UInt16](repeating: 0, count: 2 * Int(Self.pairs)) }
        let (newer, mark) = (2 * Int(word % Self.pairs), UInt16(truncatingIfNeeded: word >> 48))
        if marks[newer] == mark { return true }
        defer { (marks[newer], marks[newer + 1]) = (mark, marks[newer]) }
        return marks[newer + 1] == mark
    }
}
