internal import Synchronization

/// What a worker is to perform, in the order in which it was asked for: a stream for one reader.
///
/// `AsyncStream` does the same, but its generic code asks the runtime for metadata at each step, which costs ten times
/// what the queue does.
final class WorkQueue: Sendable {
    typealias Piece = @Sendable () async -> Void

    fileprivate struct State {
        /// As they came, behind those of `first`.
        var pieces: [Piece] = []
        /// The first of them, the very first last.
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

    /// Nothing more is taken; what waits is still performed.
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
