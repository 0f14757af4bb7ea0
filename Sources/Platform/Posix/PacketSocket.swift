internal import CPosix
internal import Clocks
internal import Glibc

/// One end of a socket that keeps message bounds and may carry open files.
///
/// - Ownership: one descriptor, closed by `deinit`.
/// - Concurrency: one thread sends, and one receives.
package final class PacketSocket: Sendable {
    package let descriptor: Int32

    package init(taking descriptor: Int32) { self.descriptor = descriptor }

    deinit { Glibc.close(descriptor) }

    /// Creates both ends of a new connection.
    package static func pair() throws(SystemFailure) -> (PacketSocket, PacketSocket) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw SystemFailure("socketpair", on: "renderer", code: errno)
        }
        return (PacketSocket(taking: ends[0]), PacketSocket(taking: ends[1]))
    }

    /// Ends the connection for both ends, even while others hold it.
    package func hangUp() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Whether a descriptor passed to this process is a socket.
    package static func isSocket(_ descriptor: Int32) -> Bool {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFSOCK
    }

    /// Sends one message with up to eight open files, if there is room for it within the time limit.
    ///
    /// - Failure: code ETIMEDOUT if the other end accepted nothing within that time.
    package func send(_ message: [UInt8], files: [OpenFile] = [], within limit: Duration = .seconds(10))
        throws(SystemFailure)
    {
        try send(message, descriptors: files.map(\.descriptor), within: limit)
    }

    /// Sends one message, together with the other end of a connection.
    package func send(_ message: [UInt8], end: PacketSocket, within limit: Duration) throws(SystemFailure) {
        try send(message, descriptors: [end.descriptor], within: limit)
    }

    private func send(_ message: [UInt8], descriptors: [Int32], within limit: Duration) throws(SystemFailure) {
        func failure(_ code: Int32) -> SystemFailure { SystemFailure("sendmsg", on: "renderer socket", code: code) }
        let end = SystemTime.monotonic + limit
        while true {
            let sent = mz_send_fds(descriptor, message, message.count, descriptors, Int32(descriptors.count))
            if sent >= 0 { return }
            guard sent == -Int(EAGAIN) else { throw failure(Int32(-sent)) }
            guard waits(for: POLLOUT, until: end) else { throw failure(ETIMEDOUT) }
        }
    }

    /// Receives one message with its files; nil when the other end is gone.
    package func receive(limit: Int) throws(SystemFailure) -> (bytes: [UInt8], files: [OpenFile])? {
        guard let (bytes, descriptors) = try receiveAll(limit: limit) else { return nil }
        return (bytes, descriptors.map { OpenFile(taking: $0, length: Self.length(of: $0)) })
    }

    /// Receives one message with the end of a connection, if it has one; nil when the other end is gone.
    package func receiveEnd(limit: Int) throws(SystemFailure) -> (bytes: [UInt8], end: PacketSocket?)? {
        guard let (bytes, descriptors) = try receiveAll(limit: limit) else { return nil }
        return (bytes, descriptors.map { PacketSocket(taking: $0) }.first)
    }

    private func receiveAll(limit: Int) throws(SystemFailure) -> (bytes: [UInt8], descriptors: ArraySlice<Int32>)? {
        var descriptors = [Int32](repeating: -1, count: 8)
        var count: Int32 = 8
        var got = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            got = mz_recv_fds(descriptor, buffer.baseAddress, limit, &descriptors, &count)
            filled = max(0, got)
        }
        let came = descriptors.prefix(Int(count))
        guard got > 0 else {
            for descriptor in came { Glibc.close(descriptor) }
            if got == 0 || got == -Int(ECONNRESET) { return nil }
            throw SystemFailure("recvmsg", on: "renderer socket", code: Int32(-got))
        }
        return (bytes, came)
    }

    /// Waits for a message, or the end of the connection; false after the time limit.
    package func waits(upTo limit: Duration) -> Bool {
        waits(for: POLLIN, until: SystemTime.monotonic + limit)
    }

    private func waits(for event: Int32, until end: Instant) -> Bool {
        while true {
            let left = max(0, (end - SystemTime.monotonic + .nanoseconds(999_999)).milliseconds)
            var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            let n = poll(&entry, 1, Int32(clamping: left))
            if n > 0 { return true }
            if n == 0 && left == 0 { return false }
            if n < 0 && errno != EINTR { return true }
        }
    }

    private static func length(of descriptor: Int32) -> Int { max(0, Int(mz_length(descriptor))) }
}
