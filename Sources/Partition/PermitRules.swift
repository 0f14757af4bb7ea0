/// How many fetches and renders may run, and how the lanes share them.
package struct PermitRules: Sendable, Equatable {
    package var fetch: Int
    package var render: Int
    /// Slow flights under way at once.
    package var slow: Int
    /// A slow flight that has waited so long (milliseconds) gets a permit even while fast ones wait.
    package var slowWait: Int64
    /// While this machine cannot do its part, one flight is let through in so many milliseconds.
    package var probeEvery: Int64 = 2_000

    package init(fetch: Int = 32, render: Int, slow: Int? = nil, slowWait: Int64 = 60_000) {
        self.fetch = max(1, fetch)
        self.render = max(1, render)
        self.slow = max(1, slow ?? render / 2)
        self.slowWait = slowWait
    }
}
