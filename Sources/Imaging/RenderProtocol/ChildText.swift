/// Text from a child process, for logs and outcomes: children are hostile, and so are the pictures that they quote.
package enum ChildText {
    private static let byteLimit = 1_000
    private static let characterLimit = 300

    /// One line, shortened, without characters that a terminal or a log reader would interpret.
    package static func line(_ bytes: some Collection<UInt8>) -> String {
        let text = String(decoding: bytes.prefix(byteLimit), as: UTF8.self)
        var line = ""
        var count = 0
        for scalar in text.unicodeScalars {
            guard count < characterLimit else { return line + "…" }
            count += 1
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                line += "\\u{\(String(scalar.value, radix: 16))}"
            default: line.unicodeScalars.append(scalar)
            }
        }
        return bytes.count > byteLimit ? line + "…" : line
    }
}
