import Glibc

/// Standard input in pieces, as it arrives.
enum StandardInput {
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// The available bytes, waiting for at least one; empty at the end.
    static func next(atMost count: Int) throws -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var n = -1
            repeat { n = read(STDIN_FILENO, buffer.baseAddress, count) } while n < 0 && errno == EINTR
            if n < 0 { failure = errno }
            filled = max(0, n)
        }
        guard failure == 0 else {
            throw CommandFailure("Standard input cannot be read: \(String(cString: strerror(failure))).")
        }
        return bytes
    }
}
