/// Whether something came before, as far as eight kilobytes tell: a memo takes up only what comes a second time, so that
/// what comes once costs it nothing.
package struct SeenBefore: Sendable {
    /// A part of each word, by another part of it.
    private var marks: [UInt16] = []

    package init() {}

    /// - Parameter word: of a good hash. It is noted, and another in its place forgotten.
    package mutating func note(_ word: UInt64) -> Bool {
        if marks.isEmpty { marks = [UInt16](repeating: 0, count: 4_096) }
        let (place, mark) = (Int(word % 4_096), UInt16(truncatingIfNeeded: word >> 48))
        defer { marks[place] = mark }
        return marks[place] == mark
    }
}
