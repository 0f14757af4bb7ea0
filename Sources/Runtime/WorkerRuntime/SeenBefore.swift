/// Whether something came before, as far as two kilobytes tell: of looks that are made ahead, `SnapshotCache` keeps those of
/// sources that come a second time, so that a source that comes once costs it nothing.
struct SeenBefore: Sendable {
    /// In pairs, the newer first: a part of each word, by another part of it.
    private var marks: [UInt16] = []
    /// Few: two generations of 256 looks are kept, and what comes again after a thousand others would not find its own.
    private static let pairs: UInt64 = 512

    /// - Parameter word: of a good hash. It is noted, and the older of two others in its place forgotten.
    mutating func note(_ word: UInt64) -> Bool {
        if marks.isEmpty { marks = [UInt16](repeating: 0, count: 2 * Int(Self.pairs)) }
        let (newer, mark) = (2 * Int(word % Self.pairs), UInt16(truncatingIfNeeded: word >> 48))
        if marks[newer] == mark { return true }
        defer { (marks[newer], marks[newer + 1]) = (mark, marks[newer]) }
        return marks[newer + 1] == mark
    }
}
