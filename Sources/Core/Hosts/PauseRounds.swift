internal import Clocks

/// How often a host was left alone since it was last well, and for how long it is next time.
struct PauseRounds: Sendable, Equatable {
    /// By the worker's judgement, and at the host's wish.
    private var (failed, refused) = (0, 0)

    /// - Parameter isFirst: a first try failed. What fails again makes the pause no longer than the last one.
    mutating func pause(_ rules: OriginRules, isFirst: Bool) -> Duration {
        failed = Self.next(failed, isFirst)
        return min(rules.pauseCap, rules.pause * failed)
    }

    /// - Parameter jitter: 0..<1.
    mutating func backoff(_ rules: OriginRules, jitter: Double, isFirst: Bool = true) -> Duration {
        refused = Self.next(refused, isFirst)
        let wait = rules.backoff.doubled(min(refused - 1, 24), atMost: rules.backoffCap)
        return wait + .milliseconds(Int64(Double(wait.milliseconds) * 0.1 * jitter))
    }

    /// As long as the last one.
    func sameAgain(_ rules: OriginRules) -> Duration {
        min(rules.pauseCap, rules.pause * max(1, failed, refused))
    }

    private static func next(_ round: Int, _ isFirst: Bool) -> Int { isFirst ? round + 1 : max(1, round) }
}
