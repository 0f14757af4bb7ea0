internal import Clocks

/// What the configuration says about reuse.
package struct ReuseRules: Sendable, Hashable {
    /// False: whatever is missing is fetched, and nothing is made from what is stored.
    package var isEnabled = true
    /// The loss that a reused variant may be expected to have, in SSIMULACRA2 points.
    package var lossBudget = 4.0
    /// Whether what has expired may still stand and stand in.
    package var allowsStale = false
    /// What standing in costs, as it was measured.
    package var losses = LossTables.measured

    package init(
        isEnabled: Bool = true, lossBudget: Double = 4, allowsStale: Bool = false, losses: LossTables = .measured
    ) {
        (self.isEnabled, self.lossBudget, self.allowsStale) = (isEnabled, lossBudget, allowsStale)
        self.losses = losses
    }

    func isFresh(until expires: WallTime, at now: WallTime) -> Bool { allowsStale || expires > now }
}
