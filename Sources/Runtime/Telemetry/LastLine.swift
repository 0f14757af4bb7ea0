internal import Dispatch
internal import Glibc
internal import Synchronization

/// The last line of a log in a separate file, so that the next process can report how this one ended.
///
/// The file begins with the number of crashes. A line follows it while the process runs, and after a crash.
///
/// - Concurrency: shared freely. A dispatch queue writes the file, so a disk that hangs does not delay the log.
package final class LastLine: Sendable {
    /// The last line of the process before; empty if there was none, or it ended cleanly.
    package let before: String
    /// Number of processes so far that ended without `end()`.
    package let crashes: Int
    private let file: Int32
    private let queue = DispatchQueue(label: "last line")
    /// The line that waits to be written.
    private let next = Mutex<String?>(nil)
    private let isEnded = Atomic(false)

    /// Minimum level of lines that count. There may be too many lines of lower levels to keep.
    static let level = Logger.Level.info
    /// Prefix of the line in a worker's metrics: a comment, which Prometheus ignores. A label would create a series for
    /// each line.
    package static let prefix = "# The log of the process before ended with: "
    /// Maximum bytes of a line that are kept.
    private static let limit = 1_000

    /// nil: the file cannot be opened, and no line is kept.
    package init?(path: String) {
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        let count = pread(file, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        if let known = parts.first.flatMap({ UInt32($0) }) {
            (crashes, before) = (Int(known) + (parts.count > 1 ? 1 : 0), parts.count > 1 ? String(parts[1]) : "")
        } else {
            // Text of another form says nothing about the end.
            (crashes, before) = (0, text)
        }
        keep(before)
    }

    deinit { close(file) }

    /// Keeps the first line of this text from now on.
    package func keep(_ line: String) {
        let isFirst = next.withLock { next in
            defer { next = line }
            return next == nil
        }
        if isFirst { queue.async { self.write() } }
    }

    /// Notes that the process ends cleanly. Later lines are not kept.
    package func end() {
        isEnded.store(true, ordering: .relaxed)
        keep("")
        flush()
    }

    /// Waits until the line is in the file, for a second at most.
    package func flush() {
        let written = DispatchSemaphore(value: 0)
        queue.async { written.signal() }
        _ = written.wait(timeout: .now() + .seconds(1))
    }

    private func write() {
        guard let line = next.withLock({ $0.take() }) else { return }
        let text = isEnded.load(ordering: .relaxed) ? "\(crashes)" : "\(crashes) \(line)"
        // One write: a killed process leaves this line or the one before, and the file is read up to the first line
        // end.
        let bytes = text.utf8.prefix { $0 != UInt8(ascii: "\n") }.prefix(Self.limit - 1) + [UInt8(ascii: "\n")]
        _ = bytes.withContiguousStorageIfAvailable { pwrite(file, $0.baseAddress, $0.count, 0) }
    }
}
