internal import Dispatch
internal import Synchronization

/// What all children of a pool may need at once, by estimate: a job that would go over waits until others are done.
///
/// Idle children share what jobs leave, and give way to the next job.
///
/// A child's own limit ends it when it asks for too much; this keeps all of them together below what the machine or its
/// container has, which would otherwise end the worker.
///
/// - Concurrency: `take` blocks the seat's own thread.
final class RenderBudget: Sendable {
    private struct State {
        var used = 0
        var waiting: [(bytes: Int, gate: DispatchSemaphore)] = []
    }
    private let ceiling: Int
    private let shrink: @Sendable (Int) -> Void
    private let state = Mutex(State())

    /// - Parameter shrink: ends idle children until they hold no more than so many bytes together.
    init(ceiling: Int, shrink: @escaping @Sendable (Int) -> Void) { (self.ceiling, self.shrink) = (ceiling, shrink) }

    /// Ends idle children that hold more than jobs leave.
    private func trim() { shrink(state.withLock { max(0, ceiling - $0.used) }) }

    /// Returns once there is room, in the order of asking; one that is over the ceiling by itself runs alone.
    func take(_ bytes: Int) {
        let gate = state.withLock { state -> DispatchSemaphore? in
            if state.waiting.isEmpty, fits(bytes, state.used) {
                state.used += bytes
                return nil
            }
            let gate = DispatchSemaphore(value: 0)
            state.waiting.append((bytes, gate))
            return gate
        }
        gate?.wait()
        trim()
    }

    func giveBack(_ bytes: Int) {
        let gates = state.withLock { state in
            state.used -= bytes
            var gates: [DispatchSemaphore] = []
            while let first = state.waiting.first, fits(first.bytes, state.used) {
                state.used += first.bytes
                gates.append(state.waiting.removeFirst().gate)
            }
            return gates
        }
        for gate in gates { gate.signal() }
        trim()
    }

    private func fits(_ bytes: Int, _ used: Int) -> Bool { used == 0 || bytes <= ceiling - used }
}
