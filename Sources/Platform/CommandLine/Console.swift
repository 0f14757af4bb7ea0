internal import Glibc
internal import JSONText

/// The two streams of a command: results go to one, messages to the other.
///
/// No text can control a terminal: see `PlainText`.
package enum Console {
    package static func print(_ text: String) { write(text + "\n") }
    /// Prints without a line end.
    package static func write(_ text: String) { write(PlainText.of(text, keepingLines: true), to: STDOUT_FILENO) }
    /// Prints one line to standard error.
    package static func complain(_ text: String) { write(PlainText.of(text) + "\n", to: STDERR_FILENO) }
    /// Clears a terminal, to show output in the same place again.
    package static func clear() { write("\u{1B}[H\u{1B}[2J", to: STDOUT_FILENO) }

    package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    private static func write(_ text: String, to stream: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let n = Glibc.write(stream, rest.baseAddress, rest.count)
                if n < 0 && errno == EINTR { continue }
                // The reader is gone, and there is no other place to report it.
                guard n > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[n...])
            }
        }
    }
}
