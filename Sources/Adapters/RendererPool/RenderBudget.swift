internal import Dispatch
internal import Synchronization

/// Estimated memory that all renderers of a pool may use at once: a render that would exceed it waits until others end.
///
/// Idle processes share the memory that renders leave free, and end when the next render needs it.
///
/// A process's own limit ends it if it allocates too much. This budget keeps all of them together below the memory of
/// the machine or its container, which would otherwise kill the worker.
///
/// - Concurrency: `take` blocks the slot's own thread.
final class RenderBudget: Sendable {
    private struct State {
        var used = 0
        var waiting: [(bytes: Int, gate: DispatchSemaphore)] = []
    }
    private let ceiling: Int
    private let shrink: @Sendable (Int) -> Void
    private let state = Mutex(State())

    /// - Parameter shrink: ends idle processes until the others hold at most this many bytes.
    init(ceiling: Int, shrink: @escaping @Sendable (Int) -> Void) { (self.ceiling, self.shrink) = (ceiling, shrink) }

    /// Ends idle processes that hold more memory than the renders leave free.
    private func trim() { shrink(state.withLock { max(0, ceiling - $0.used) }) }

    /// Waits for room, in the order of the calls; a render that exceeds the ceiling by itself runs alone.
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
