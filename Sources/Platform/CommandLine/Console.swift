internal import Glibc
internal import JSONText

/// The two streams of a command: results to one, everything said about them to the other.
///
/// Whatever text comes, none of it drives a terminal: see `PlainText`.
package enum Console {
    package static func print(_ text: String) { write(text + "\n") }
    /// Without a line end.
    package static func write(_ text: String) { write(PlainText.of(text, keepingLines: true), to: STDOUT_FILENO) }
    /// One line.
    package static func complain(_ text: String) { write(PlainText.of(text) + "\n", to: STDERR_FILENO) }
    /// Makes a terminal empty, to show something in the same place again.
    package static func clear() { write("\u{1B}[H\u{1B}[2J", to: STDOUT_FILENO) }

    package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    private static func write(_ text: String, to stream: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let n = Glibc.write(stream, rest.baseAddress, rest.count)
                if n < 0 && errno == EINTR { continue }
                // Nobody reads any more, and there is no other place to say so.
                guard n > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[n...])
            }
        }
    }
}
