internal import JSONText

/// A page that is being written. Text is escaped; only literals of this module are added as markup.
struct HTML {
    private(set) var text = ""
    /// Titles of the current table's columns, and the index of the next cell's.
    private var titles: [String] = []
    private var nextTitle = 0

    init(reserving bytes: Int = 1 << 15) { text.reserveCapacity(bytes) }

    /// Adds markup from this module, never text from outside.
    mutating func raw(_ markup: StaticString) { markup.withUTF8Buffer { text += String(decoding: $0, as: UTF8.self) } }

    mutating func add(_ other: HTML) { text += other.text }

    /// Adds text, or the value of an attribute in double quotes.
    mutating func put(_ words: String) {
        guard words.utf8.contains(where: { Self.special($0) || $0 < 0x20 || $0 >= 0x7F }) else {
            text += words
            return
        }
        for scalar in PlainText.of(words).unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    mutating func put(_ number: some BinaryInteger) { text += String(number) }

    private static func special(_ byte: UInt8) -> Bool {
        [0x22, 0x26, 0x27, 0x3C, 0x3E].contains(byte)
    }

    /// Type of a column. `code` stays on one line; `text` holds words that take several.
    enum Column { case word, code, number, text }

    mutating func cell(_ words: String, _ kind: Column = .word) {
        openCell(kind)
        put(words)
        raw("</td>")
    }

    /// Opens a cell. It has its column's title for narrow windows, which show no head.
    mutating func openCell(_ kind: Column) {
        open("td data-title=\"")
        put(titles[nextTitle])
        raw("\"")
        close(kind)
        nextTitle = (nextTitle + 1) % titles.count
    }

    private mutating func open(_ name: StaticString) {
        raw("<")
        raw(name)
    }

    private mutating func close(_ kind: Column) {
        switch kind {
        case .word: raw(">")
        case .code: raw(" class=c>")
        case .number: raw(" class=n>")
        case .text: raw(" class=t>")
        }
    }

    /// Adds a table that scrolls by itself if it is too wide, also by keyboard. In a narrow window each row is a list
    /// of its cells. Each row has a cell for each column.
    mutating func table(
        _ name: String, _ columns: [(title: String, kind: Column)], _ body: (inout HTML) -> Void
    ) {
        raw("<div class=wide role=region tabindex=0 aria-label=\"")
        put(name)
        raw("\"><table><thead><tr>")
        for column in columns {
            open("th scope=col")
            close(column.kind)
            put(column.title)
            raw("</th>")
        }
        raw("</tr></thead><tbody>")
        (titles, nextTitle) = (columns.map(\.title), 0)
        body(&self)
        raw("</tbody></table></div>")
    }
}
