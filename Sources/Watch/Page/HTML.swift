internal import JSONText

/// A page in the making. Text comes in escaped; only what this room itself wrote comes in as markup.
struct HTML {
    private(set) var text = ""

    init(reserving bytes: Int = 1 << 15) { text.reserveCapacity(bytes) }

    /// Markup of ours: never what somebody sent.
    mutating func raw(_ markup: StaticString) { markup.withUTF8Buffer { text += String(decoding: $0, as: UTF8.self) } }

    mutating func add(_ other: HTML) { text += other.text }

    /// Text, or the value of an attribute in double quotes.
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

    /// `text` is of words that take several lines.
    enum Column { case word, number, text }

    mutating func cell(_ words: String, _ kind: Column = .word) {
        open("td", kind)
        put(words)
        raw("</td>")
    }

    mutating func open(_ name: StaticString, _ kind: Column) {
        raw("<")
        raw(name)
        switch kind {
        case .word: raw(">")
        case .number: raw(" class=n>")
        case .text: raw(" class=t>")
        }
    }

    /// A table that scrolls by itself where the page is narrow, and can be scrolled by keyboard.
    mutating func table(
        _ name: String, _ columns: [(title: String, kind: Column)], _ body: (inout HTML) -> Void
    ) {
        raw("<div class=wide role=region tabindex=0 aria-label=\"")
        put(name)
        raw("\"><table><thead><tr>")
        for column in columns {
            open("th scope=col", column.kind)
            put(column.title)
            raw("</th>")
        }
        raw("</tr></thead><tbody>")
        body(&self)
        raw("</tbody></table></div>")
    }
}
