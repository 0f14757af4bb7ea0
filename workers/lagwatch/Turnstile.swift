/// One at a time, in the order in which they came, and a rest after each: however many ask, the log is asked no more often.
actor Turnstile {
    private let rest: Duration
    private var last: Task<Void, Never>?

    init(rest: Duration) { self.rest = rest }

    /// nil if its caller was cancelled before its turn.
    func pass<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) async -> Result? {
        let before = last
        // Bare, as the next: those who come later wait for its end, also where its own caller does not any more.
        let turn = Task { () -> Result? in
            await before?.value
            return Task.isCancelled ? nil : await work()
        }
        last = Task { [rest] in if await turn.value != nil { try? await Task.sleep(for: rest) } }
        return await withTaskCancellationHandler {
            await turn.value
        } onCancel: {
            turn.cancel()
        }
    }
}
