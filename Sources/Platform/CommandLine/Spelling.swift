/// Suggestions for mistyped names.
package enum Spelling {
    /// The candidate with the fewest typing errors from `word`; nil if none is within `limit`, or a third of the word.
    package static func nearest(
        to word: String, among candidates: some Sequence<String>, within limit: Int? = nil
    ) -> String? {
        let limit = limit ?? max(1, word.utf8.count / 3)
        let near = candidates.map { ($0, distance(word.lowercased(), $0.lowercased())) }.filter { $0.1 <= limit }
        return near.min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
    }

    /// Text ` Did you mean 'publish'?`, or an empty one.
    package static func hint(for word: String, among candidates: some Sequence<String>) -> String {
        nearest(to: word, among: candidates).map { " Did you mean '\($0)'?" } ?? ""
    }

    /// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
    static func distance(_ a: String, _ b: String) -> Int {
        let (x, y) = (Array(a.utf8), Array(b.utf8))
        var before: [Int] = []
        var last = Array(0...y.count)
        for i in x.indices {
            var row = [i + 1]
            for j in y.indices {
                var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (x[i] == y[j] ? 0 : 1))
                if i > 0, j > 0, x[i] == y[j - 1], x[i - 1] == y[j] { cost = min(cost, before[j - 1] + 1) }
                row.append(cost)
            }
            (before, last) = (last, row)
        }
        return last[y.count]
    }
}
