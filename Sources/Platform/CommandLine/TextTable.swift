internal import JSONText

/// A table for people: columns as wide as their widest cell; columns of numbers only are right-aligned. Each cell
/// becomes one line, with any content.
package enum TextTable {
    package static func text(_ titles: [String], _ rows: [[String]]) -> String { text([titles] + rows, titled: true) }

    /// - Precondition: every row has as many cells as the first.
    package static func text(_ rows: [[String]], titled: Bool = false) -> String {
        let rows = rows.map { $0.map { PlainText.of($0) } }
        let columns = rows.first?.indices ?? 0..<0
        let widths = columns.map { i in rows.map { $0[i].count }.max() ?? 0 }
        let isNumeric = columns.map { i in
            rows.dropFirst(titled ? 1 : 0).allSatisfy { $0[i].allSatisfy { $0.isNumber || ".-".contains($0) } }
        }
        let lines = rows.map { cells in
            let padded = columns.map { i in
                let space = String(repeating: " ", count: widths[i] - cells[i].count)
                return isNumeric[i] ? space + cells[i] : cells[i] + space
            }
            var line = padded.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            return line + "\n"
        }
        return lines.joined()
    }
}
