internal import Synchronization

/// The worker's pending tasks, in the order of the requests: a stream for one reader.
///
/// `AsyncStream` does the same, but its generic code asks the runtime for metadata at each step, which costs ten times
/// as much as the queue.
final class WorkQueue: Sendable {
    typealias Piece = @Sendable () async -> Void

    fileprivate struct State {
        /// Later pieces, in the order in which they came.
        var pieces: [Piece] = []
        /// Pieces that are next, in reverse order.
        var first: [Piece] = []
        var isFinished = false
        var reader: UnsafeContinuation<Piece?, Never>?
    }

    private let state = Mutex(State())

    func yield(_ piece: @escaping Piece) {
        let reader = state.withLock { state -> UnsafeContinuation<Piece?, Never>? in
            guard !state.isFinished else { return nil }
            if state.reader == nil { state.pieces.append(piece) }
            return state.reader.take()
        }
        reader?.resume(returning: piece)
    }

    /// Stops accepting pieces. Waiting ones are still performed.
    func finish() {
        let reader = state.withLock { state -> UnsafeContinuation<Piece?, Never>? in
            state.isFinished = true
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }

    /// The next piece, once there is one; nil after the last.
    func next(isolation: isolated (any Actor)? = #isolation) async -> Piece? {
        await withUnsafeContinuation { reader in
            let piece = state.withLock { state -> Piece?? in
                if let piece = state.takeFirst() { return piece }
                if state.isFinished { return .some(nil) }
                state.reader = reader
                return nil
            }
            if let piece { reader.resume(returning: piece) }
        }
    }
}

extension WorkQueue.State {
    fileprivate mutating func takeFirst() -> WorkQueue.Piece? {
        if first.isEmpty {
            swap(&first, &pieces)
            first.reverse()
        }
        return first.popLast()
    }
}
