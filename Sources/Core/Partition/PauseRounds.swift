/// How often a host was left alone since it was last well, and for how long it is next time. Milliseconds.
struct PauseRounds: Sendable, Equatable {
    /// By the worker's judgement, and at the host's wish.
    private var (failed, refused) = (0, 0)

    /// - Parameter isFirst: a first try failed. What fails again makes the pause no longer than the last one.
    mutating func pause(_ rules: OriginRules, isFirst: Bool) -> Int64 {
        failed = Self.next(failed, isFirst)
        return min(rules.pauseCap, rules.pause * Int64(failed))
    }

    /// - Parameter jitter: 0..<1.
    mutating func backoff(_ rules: OriginRules, jitter: Double, isFirst: Bool = true) -> Int64 {
        refused = Self.next(refused, isFirst)
        let wait = min(rules.backoffCap, rules.backoff << Int64(min(refused - 1, 24)))
        return wait + Int64(Double(wait) * 0.1 * jitter)
    }

    /// As long as the last one.
    func sameAgain(_ rules: OriginRules) -> Int64 {
        min(rules.pauseCap, rules.pause * Int64(max(1, failed, refused)))
    }

    private static func next(_ round: Int, _ isFirst: Bool) -> Int { isFirst ? round + 1 : max(1, round) }
}
