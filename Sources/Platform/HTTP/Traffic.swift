internal import Posix
internal import Synchronization

/// The connections of one loop, and how much of what they brought was part of an answer.
///
/// libcurl passes over much that it never tells of: extensions of chunks, frames of HTTP/2 that carry nothing, tickets
/// of TLS. So what comes is counted at the sockets, from another thread, since libcurl does not return while more of
/// it comes: one call was seen to take five seconds for empty frames of DATA.
///
/// - Concurrency: the loop opens, closes and counts; the watch checks.
final class Traffic: Sendable {
    private struct State {
        var sockets: Set<Int32> = []
        /// Of connections that are closed.
        var past = 0
        /// What had been read when the loop took up work.
        var start = 0
        var isFlooded = false

        /// What was cut has brought nothing any more.
        mutating func cut() {
            for socket in sockets { TCPConnection.cut(socket) }
            start = read
        }

        var read: Int { sockets.reduce(past) { $0 + TCPConnection.bytesRead($1) } }
    }

    private let state = Mutex(State())
    /// Bytes that were part of answers, since the loop took up work.
    private let useful = Atomic(0)
    private let pauses = Atomic(0)

    /// What a connection may bring beside answers: its handshake, and frames that there are for every few answers.
    private static let allowance = 256 << 10
    /// HTTP/2 goes on sending to a paused or ended body, as far as libcurl has told it to.
    private static let pausedAllowance = 32 << 20

    /// Whether the connections were ended for what they brought.
    var isFlooded: Bool { state.withLock { $0.isFlooded } }

    func took(_ count: Int) { useful.add(count, ordering: .relaxed) }
    /// The rest of a body that ends before it is whole: what of it is under way is part of an answer, too.
    ///
    /// - Parameter bytes: nil for a body of unknown length.
    func left(_ bytes: Int?) {
        if !isFlooded { took(min(bytes ?? .max, Self.pausedAllowance) / 2) }
    }

    func paused(_ change: Int) { pauses.add(change, ordering: .relaxed) }

    func opened(_ socket: Int32) { state.withLock { _ = $0.sockets.insert(socket) } }

    /// Under the lock, so that nobody asks a descriptor that is another file's by then.
    func close(_ socket: Int32) {
        state.withLock { state in
            state.past += TCPConnection.bytesRead(socket)
            state.sockets.remove(socket)
            TCPConnection.close(socket)
        }
    }

    /// The loop takes up work; for another host than before, connections that were kept are of no use.
    func begin(forAnotherHost isOther: Bool) {
        state.withLock { state in
            if isOther { state.cut() } else { state.start = state.read }
            state.isFlooded = false
            useful.store(0, ordering: .relaxed)
        }
    }

    /// Ends all connections if more than half of what they brought is no part of an answer, and that is much.
    func check() {
        state.withLock { state in
            let read = state.read - state.start
            let allowed =
                2 * useful.load(ordering: .relaxed) + Self.allowance * max(1, state.sockets.count)
                + Self.pausedAllowance * pauses.load(ordering: .relaxed)
            guard read > allowed else { return }
            state.cut()
            useful.store(0, ordering: .relaxed)
            state.isFlooded = true
        }
    }
}
