internal import CPosix
internal import Glibc

/// One end of a socket whose messages keep their bounds and may carry open files.
///
/// - Ownership: one descriptor, closed by `deinit`.
/// - Concurrency: one thread sends, and one receives.
package final class PacketSocket: Sendable {
    package let descriptor: Int32

    package init(taking descriptor: Int32) { self.descriptor = descriptor }

    deinit { Glibc.close(descriptor) }

    /// Both ends of a new connection.
    package static func pair() throws(SystemFailure) -> (PacketSocket, PacketSocket) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw SystemFailure("socketpair", on: "renderer", code: errno)
        }
        return (PacketSocket(taking: ends[0]), PacketSocket(taking: ends[1]))
    }

    /// Whether a descriptor that was handed to this process is such a socket.
    package static func isSocket(_ descriptor: Int32) -> Bool {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFSOCK
    }

    /// Sends one message with up to eight open files.
    package func send(_ message: [UInt8], files: [OpenFile] = []) throws(SystemFailure) {
        let sent = mz_send_fds(descriptor, message, message.count, files.map(\.descriptor), Int32(files.count))
        guard sent >= 0 else { throw SystemFailure("sendmsg", on: "renderer socket", code: Int32(-sent)) }
    }

    /// One message and the files that came with it; nil when the other end is gone.
    package func receive(limit: Int) throws(SystemFailure) -> (bytes: [UInt8], files: [OpenFile])? {
        var descriptors = [Int32](repeating: -1, count: 8)
        var count: Int32 = 8
        var got = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            got = mz_recv_fds(descriptor, buffer.baseAddress, limit, &descriptors, &count)
            filled = max(0, got)
        }
        let files = descriptors.prefix(Int(count)).map { OpenFile(taking: $0, length: Self.length(of: $0)) }
        if got == 0 || got == -Int(ECONNRESET) { return nil }
        guard got > 0 else { throw SystemFailure("recvmsg", on: "renderer socket", code: Int32(-got)) }
        return (bytes, files)
    }

    /// Whether a message, or the end of the connection, came within so many milliseconds.
    package func waits(upTo milliseconds: Int) -> Bool {
        let end = mz_monotonic_ns() + Int64(milliseconds) * 1_000_000
        while true {
            let left = max(0, (end - mz_monotonic_ns() + 999_999) / 1_000_000)
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let n = poll(&entry, 1, Int32(clamping: left))
            if n > 0 { return true }
            if n == 0 && left == 0 { return false }
            if n < 0 && errno != EINTR { return true }
        }
    }

    private static func length(of descriptor: Int32) -> Int {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 ? Int(facts.st_size) : 0
    }
}
