internal import CPosix
internal import Glibc

/// Standard error of a child, read on request. A child that writes more than the pipe holds loses the rest, and is
/// never blocked.
///
/// - Ownership: two descriptors, closed by `deinit`; the child has a copy of one.
package final class LogPipe: Sendable {
    private let ownEnd: Int32
    let childEnd: Int32
    private static let byteLimit = 16 << 10
    private static let lineLimit = 20

    package init() throws(SystemFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else {
            throw SystemFailure("pipe", on: "renderer", code: errno)
        }
        (ownEnd, childEnd) = (ends[0], ends[1])
    }

    deinit {
        close(ownEnd)
        close(childEnd)
    }

    /// The first lines written since the last call; drops the rest.
    package func takeLines() -> [ArraySlice<UInt8>] {
        var bytes = [UInt8](repeating: 0, count: Self.byteLimit)
        let count = read(ownEnd, &bytes, bytes.count)
        guard count > 0 else { return [] }
        var rest = [UInt8](repeating: 0, count: Self.byteLimit)
        // The pipe holds 64 KiB; a child that continues to write is not awaited.
        for _ in 0..<4 where read(ownEnd, &rest, rest.count) <= 0 { break }
        return Array(bytes[..<count].split(separator: UInt8(ascii: "\n")).prefix(Self.lineLimit))
    }
}
