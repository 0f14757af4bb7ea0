internal import Clocks

/// Number of pauses of a host since its last quiet period, and the length of the next.
struct PauseRounds: Sendable, Equatable {
    /// Pauses that the worker decided, and pauses that the host requested.
    private var (failed, refused) = (0, 0)

    /// - Parameter isFirst: a job's first attempt failed. A failed retry does not make the pause longer than the last
    ///   one.
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

    /// Pause as long as the last one.
    func sameAgain(_ rules: OriginRules) -> Duration {
        min(rules.pauseCap, rules.pause * max(1, failed, refused))
    }

    private static func next(_ round: Int, _ isFirst: Bool) -> Int { isFirst ? round + 1 : max(1, round) }
}
