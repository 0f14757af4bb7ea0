internal import Synchronization

/// Holds whoever waits at it until it is opened: how a test decides the order of things without sleeping.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrived = 0
        var nextID = 0
        var held: [Int: CheckedContinuation<Void, Never>] = [:]
        var watchers: [(count: Int, seen: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns once the gate is open, or the task is cancelled.
    package func wait() async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (goOn, seen) = state.withLock { state in
                    state.arrived += 1
                    let seen = state.watchers.filter { $0.count <= state.arrived }.map(\.seen)
                    state.watchers.removeAll { $0.count <= state.arrived }
                    if state.isOpen || Task.isCancelled { return (true, seen) }
                    state.held[id] = continuation
                    return (false, seen)
                }
                if goOn { continuation.resume() }
                seen.forEach { $0.resume() }
            }
        } onCancel: {
            state.withLock { $0.held.removeValue(forKey: id) }?.resume()
        }
    }

    package var isClosed: Bool { state.withLock { !$0.isOpen } }

    package func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [:] }
            return state.held
        }
        held.values.forEach { $0.resume() }
    }

    /// Returns once `count` have come to the gate, since its making.
    package func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isEnough = state.withLock { state in
                if state.arrived >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isEnough { continuation.resume() }
        }
    }
}
