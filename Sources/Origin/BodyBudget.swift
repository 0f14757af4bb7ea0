internal import Synchronization

/// The bytes that all bodies in the worker may take together.
///
/// A fetch enters with a small share and grows as its length becomes known. When the budget is used up, new fetches
/// wait, and one that grows is paused until others have gone. One at a time may overdraw, so that those which wait for
/// each other's bytes cannot stop for ever: the most in use is the limit and one body.
final class BodyBudget: Sendable {
    private let limit: Int
    private let state = Mutex(State())

    private struct State {
        var shares: [Int: Int] = [:]
        var used = 0
        var peak = 0
        var lastID = 0
        var overdrawn: Int?
        /// In the order they came; growth goes before entry, since it frees what it holds.
        var growing: [(id: Int, bytes: Int, granted: @Sendable () -> Void)] = []
        var entering: [(id: Int, bytes: Int, granted: CheckedContinuation<Bool, Never>)] = []

        mutating func set(_ id: Int, to bytes: Int?) {
            used += (bytes ?? 0) - (shares[id] ?? 0)
            shares[id] = bytes
            peak = max(peak, used)
        }
    }

    init(limit: Int) { self.limit = limit }

    var used: Int { state.withLock { $0.used } }
    /// The most bytes that were in use at one time.
    var peak: Int { state.withLock { $0.peak } }

    /// Fetches that wait to enter.
    var waiting: Int { state.withLock { $0.entering.count } }

    /// Waits for a share; nil if the task was cancelled.
    func enter(with bytes: Int) async -> BodyLease? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let isIn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.entering.isEmpty, mayEnter(bytes, state) {
                        state.set(id, to: bytes)
                        return true
                    }
                    state.entering.append((id, bytes, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.entering.firstIndex { $0.id == id }.map { state.entering.remove(at: $0).granted }
            }
            waiting?.resume(returning: false)
        }
        return isIn ? BodyLease(id, of: self) : nil
    }

    fileprivate func share(of id: Int) -> Int { state.withLock { $0.shares[id] ?? 0 } }

    fileprivate func grow(_ id: Int, to bytes: Int, granted: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if bytes <= state.shares[id] ?? 0 { return true }
            // Who overdraws goes on whoever waits: they wait for it.
            guard state.overdrawn == id || state.growing.isEmpty, mayGrow(id, to: bytes, &state) else {
                state.growing.append((id, bytes, granted))
                return false
            }
            state.set(id, to: bytes)
            return true
        }
    }

    /// nil gives the whole share back.
    fileprivate func shrink(_ id: Int, to bytes: Int?) {
        var grown: [@Sendable () -> Void] = []
        var entered: [CheckedContinuation<Bool, Never>] = []
        state.withLock { state in
            state.set(id, to: bytes.map { min($0, state.shares[id] ?? 0) })
            if bytes == nil {
                state.growing.removeAll { $0.id == id }
                if state.overdrawn == id { state.overdrawn = nil }
            }
            while let first = state.growing.first, mayGrow(first.id, to: first.bytes, &state) {
                state.set(first.id, to: first.bytes)
                grown.append(state.growing.removeFirst().granted)
            }
            while let first = state.entering.first, mayEnter(first.bytes, state) {
                state.set(first.id, to: first.bytes)
                entered.append(state.entering.removeFirst().granted)
            }
        }
        for granted in grown { granted() }
        for continuation in entered { continuation.resume(returning: true) }
    }

    /// A budget smaller than one share lets one in.
    private func mayEnter(_ bytes: Int, _ state: State) -> Bool {
        state.growing.isEmpty && (state.used + bytes <= limit || state.used == 0)
    }

    private func mayGrow(_ id: Int, to bytes: Int, _ state: inout State) -> Bool {
        let more = bytes - (state.shares[id] ?? 0)
        if state.used + more <= limit || state.overdrawn == id { return true }
        guard state.overdrawn == nil else { return false }
        state.overdrawn = id
        return true
    }
}

/// A body's share of the budget, given back when the last of its holders is gone.
final class BodyLease: Sendable {
    private let id: Int
    private let budget: BodyBudget

    fileprivate init(_ id: Int, of budget: BodyBudget) { (self.id, self.budget) = (id, budget) }

    deinit { budget.shrink(id, to: nil) }

    var bytes: Int { budget.share(of: id) }

    /// False if it must wait, and then `granted` is called once, when it has grown.
    func grow(to bytes: Int, granted: @escaping @Sendable () -> Void) -> Bool {
        budget.grow(id, to: bytes, granted: granted)
    }

    /// The body is whole: what it did not need is free.
    func settle(at bytes: Int) { budget.shrink(id, to: bytes) }
}
