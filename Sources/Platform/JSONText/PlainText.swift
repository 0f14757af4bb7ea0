/// Makes text safe for a terminal or a page: escapes characters that control either, as in JSON, `\u001b`.
///
/// JSON keeps its meaning, because such characters occur in it only inside strings.
package enum PlainText {
    /// - Parameter keepingLines: whether line ends and tabs stay: in our own pages, but not in a value from outside.
    package static func of(_ text: String, keepingLines: Bool = false) -> String {
        guard text.utf8.contains(where: mayBegin) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if drives(scalar), !(keepingLines && (scalar == "\n" || scalar == "\t")) {
                let digits = String(scalar.value, radix: 16)
                shown.append(
                    contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars)
            } else {
                shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// Whether a scalar is C0, DEL or C1, a mark, embedding, override or isolate of directions, or a separator of lines
    /// or paragraphs.
    private static func drives(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether a byte can begin one of these scalars in UTF-8.
    private static func mayBegin(_ byte: UInt8) -> Bool { byte < 0x20 || [0x7F, 0xC2, 0xD8, 0xE2].contains(byte) }
}
