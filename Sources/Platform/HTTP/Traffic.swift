internal import Posix
internal import Synchronization

/// The connections of one loop, and the share of their bytes that belonged to responses.
///
/// libcurl skips many bytes without reporting them: extensions of chunks, empty frames of HTTP/2, tickets of TLS. So
/// bytes are counted at the sockets, from another thread, since libcurl does not return while more arrive: one call
/// took five seconds for empty DATA frames.
///
/// - Concurrency: the loop opens, closes and counts; the watch thread checks.
final class Traffic: Sendable {
    private struct State {
        var sockets: Set<Int32> = []
        /// Number of connections that were open when the loop began its work, or were opened since. A closed one still
        /// counts: bytes that it brought may belong to a response that is not settled yet.
        var connections = 0
        /// Bytes of connections that are closed.
        var past = 0
        /// Bytes that had been read when the loop began its work.
        var start = 0
        var isFlooded = false

        /// Cuts all connections; their bytes no longer count.
        mutating func cut() {
            for socket in sockets { TCPConnection.cut(socket) }
            start = read
            connections = sockets.count
        }

        var read: Int { sockets.reduce(past) { $0 + TCPConnection.bytesRead($1) } }
    }

    private let state = Mutex(State())
    /// Bytes that belonged to responses, since the loop began its work.
    private let useful = Atomic(0)
    private let pauses = Atomic(0)

    /// Bytes that a connection may bring outside responses: its handshake, and frames that come with every few
    /// responses.
    private static let allowance = 256 << 10
    /// HTTP/2 continues to send a paused or ended body, as far as libcurl has allowed it to.
    private static let pausedAllowance = 32 << 20

    /// Whether the connections were cut because of these bytes.
    var isFlooded: Bool { state.withLock { $0.isFlooded } }

    func took(_ count: Int) { useful.add(count, ordering: .relaxed) }
    /// Counts the rest of a body that ends early: bytes of it that are on their way belong to the response, too.
    ///
    /// - Parameter bytes: nil for a body of unknown length.
    func left(_ bytes: Int?) {
        if !isFlooded { took(min(bytes ?? .max, Self.pausedAllowance) / 2) }
    }

    func paused(_ change: Int) { pauses.add(change, ordering: .relaxed) }

    func opened(_ socket: Int32) {
        state.withLock { state in
            if state.sockets.insert(socket).inserted { state.connections += 1 }
        }
    }

    /// Closes under the lock, so that the watch never queries a descriptor that another file has by then.
    func close(_ socket: Int32) {
        state.withLock { state in
            state.past += TCPConnection.bytesRead(socket)
            state.sockets.remove(socket)
            TCPConnection.close(socket)
        }
    }

    /// Begins work; for another host than before, kept connections are useless and are cut.
    func begin(forAnotherHost isOther: Bool) {
        state.withLock { state in
            if isOther { state.cut() } else { state.start = state.read }
            state.connections = state.sockets.count
            state.isFlooded = false
            useful.store(0, ordering: .relaxed)
        }
    }

    /// Cuts all connections if more than half of their bytes, and many bytes, belonged to no response.
    func check() {
        state.withLock { state in
            let read = state.read - state.start
            let allowed =
                2 * useful.load(ordering: .relaxed) + Self.allowance * max(1, state.connections)
                + Self.pausedAllowance * pauses.load(ordering: .relaxed)
            guard read > allowed else { return }
            state.cut()
            useful.store(0, ordering: .relaxed)
            state.isFlooded = true
        }
    }
}
