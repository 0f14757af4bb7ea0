internal import Dispatch
internal import Glibc
internal import Synchronization

/// The last line of a log in a separate file, so that the next process can report how this one ended.
///
/// - Concurrency: shared freely. A dispatch queue writes the file, so a disk that hangs does not delay the log.
package final class LastLine: Sendable {
    /// The last line of the process before; empty if there was none.
    package let before: String
    private let file: Int32
    private let queue = DispatchQueue(label: "last line")
    /// The line that waits to be written.
    private let next = Mutex<String?>(nil)

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
        before = String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
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

    /// Waits until the line is in the file, for a second at most.
    package func flush() {
        let written = DispatchSemaphore(value: 0)
        queue.async { written.signal() }
        _ = written.wait(timeout: .now() + .seconds(1))
    }

    private func write() {
        guard let line = next.withLock({ $0.take() }) else { return }
        // One write: a killed process leaves this line or the one before, and the file is read up to the first line
        // end.
        let bytes = line.utf8.prefix { $0 != UInt8(ascii: "\n") }.prefix(Self.limit - 1) + [UInt8(ascii: "\n")]
        _ = bytes.withContiguousStorageIfAvailable { pwrite(file, $0.baseAddress, $0.count, 0) }
    }
}
