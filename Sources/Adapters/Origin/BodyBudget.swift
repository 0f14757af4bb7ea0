internal import Synchronization

/// Budget of bytes for all bodies in the worker together, by the rules of `BudgetBook`.
///
/// When it is used up, fetches wait before they contact their origin, and transfers are paused.
final class BodyBudget: Sendable {
    private let state: Mutex<State>

    private struct State {
        var book: BudgetBook
        var lastID = 0
        var growing: [Int: @Sendable () -> Void] = [:]
        var entering: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    init(limit: Int) { state = Mutex(State(book: BudgetBook(limit: limit))) }

    var used: Int { state.withLock { $0.book.used } }
    /// Most bytes in use at one time so far.
    var peak: Int { state.withLock { $0.book.peak } }
    /// Number of fetches that wait to enter.
    var waiting: Int { state.withLock { $0.book.waitingToEnter } }
    func used(by host: String) -> Int { state.withLock { $0.book.bytes(ofHost: host) } }

    /// Waits for a share; nil if the task was cancelled.
    func enter(for host: String, with bytes: Int) async -> BodyLease? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let isIn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.book.enter(id, for: host, with: bytes) { return true }
                    state.entering[id] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            // If its turn came first, it has entered, and leaves with its lease.
            let waiting = state.withLock { $0.entering.removeValue(forKey: id) }
            guard let waiting else { return }
            perform { $0.leave(id) }
            waiting.resume(returning: false)
        }
        return isIn ? BodyLease(id, of: self) : nil
    }

    fileprivate func share(of id: Int) -> Int { state.withLock { $0.book.bytes(of: id) } }

    fileprivate func begin(_ id: Int) { state.withLock { $0.book.begin(id) } }

    fileprivate func grow(_ id: Int, to bytes: Int, granted: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.book.grow(id, to: bytes) { return true }
            state.growing[id] = granted
            return false
        }
    }

    fileprivate func settle(_ id: Int, at bytes: Int) { perform { $0.settle(id, at: bytes) } }

    fileprivate func leave(_ id: Int) {
        // Pending growth is dropped with its lease.
        state.withLock { $0.growing[id] = nil }
        perform { $0.leave(id) }
    }

    /// Changes the book under the lock, then resumes the granted fetches without it.
    private func perform(_ change: (inout BudgetBook) -> BudgetBook.Granted) {
        let (grown, entered) = state.withLock { state in
            let granted = change(&state.book)
            return (
                granted.grown.compactMap { state.growing.removeValue(forKey: $0) },
                granted.entered.compactMap { state.entering.removeValue(forKey: $0) }
            )
        }
        for goOn in grown { goOn() }
        for continuation in entered { continuation.resume(returning: true) }
    }
}

/// A body's share of the budget, returned when its last holder is gone.
final class BodyLease: Sendable {
    private let id: Int
    private let budget: BodyBudget

    fileprivate init(_ id: Int, of budget: BodyBudget) { (self.id, self.budget) = (id, budget) }

    deinit { budget.leave(id) }

    var bytes: Int { budget.share(of: id) }

    /// Marks the start of the body, which determines its rank by age.
    func begin() { budget.begin(id) }

    /// Returns false if growth must wait; then `granted` is called once when the share has grown.
    func grow(to bytes: Int, granted: @escaping @Sendable () -> Void) -> Bool {
        budget.grow(id, to: bytes, granted: granted)
    }

    /// Marks the body as complete, and releases its unused share.
    func settle(at bytes: Int) { budget.settle(id, at: bytes) }
}
