internal import Synchronization

extension RenderQueue {
    /// A caller that waits for one result. The first result counts, from the process or from a cancellation.
    final class PendingJob: Sendable {
        private enum State {
            case idle
            case waiting(CheckedContinuation<Answer, Never>)
            case answered(Answer)
        }
        private let state = Mutex(State.idle)

        func wait(_ continuation: CheckedContinuation<Answer, Never>) {
            let early = state.withLock { state -> Answer? in
                if case .answered(let answer) = state { return answer }
                state = .waiting(continuation)
                return nil
            }
            if let early { continuation.resume(returning: early) }
        }

        func answer(_ answer: Answer) {
            let waiting = state.withLock { state -> CheckedContinuation<Answer, Never>? in
                defer { if case .answered = state {} else { state = .answered(answer) } }
                if case .waiting(let continuation) = state { return continuation }
                return nil
            }
            waiting?.resume(returning: answer)
        }

        var isAnswered: Bool { state.withLock { if case .answered = $0 { true } else { false } } }
    }
}
