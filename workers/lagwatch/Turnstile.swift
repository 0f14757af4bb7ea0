/// Runs one caller at a time, in order, with a rest after each: more callers cause no more requests to the log.
actor Turnstile {
    private let rest: Duration
    private var last: Task<Void, Never>?

    init(rest: Duration) { self.rest = rest }

    /// Runs work in its turn; nil if its caller was cancelled before that.
    func pass<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) async -> Result? {
        let before = last
        // Bare, like the next task: later callers wait for its end, even if its own caller does not any more.
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
