package import Clocks

/// Freshness lifetimes of responses: RFC 9111 for a private cache, within the limits of the settings.
package struct FreshnessRules: Sendable, Hashable {
    /// Minimum lifetime, except for responses that forbid their reuse.
    package var floor = Duration.zero
    /// Maximum lifetime, for the origin's own values, heuristic ones and `standard`.
    package var ceiling = Duration.days(30)
    /// Lifetime of responses from which none can be derived.
    package var standard = Duration.days(7)
    /// Time for which a stale body may be used if its origin fails, unless the response sets its own.
    package var ifError = Duration.days(7)
    /// Time for which a stale body may be used while it is revalidated, unless the response sets its own.
    package var whileRevalidate = Duration.zero

    /// Heuristic lifetime: a tenth of the time since the last change, at most three days.
    package static let heuristicShare = 10
    package static let heuristicLimit = Duration.days(3)
    /// Lifetimes that the settings determine differ from one source to the next by up to a tenth. Sources that were
    /// stored together are then not all revalidated together.
    private static let spread = 10

    package init() {}

    /// Time until which a response may be used without revalidation.
    ///
    /// Its `Date` is compared only with its own other dates, because the difference from this worker's time may be a
    /// difference of clocks. If the response went through other caches, they state its age.
    ///
    /// - Parameters:
    /// - policy: policy of this response; for a 304, the policy updated by it.
    /// - asked: start of the request.
    /// - place: constant position of the source among all sources, 0..<1. It spreads the lifetimes of sources.
    package func freshUntil(
        _ policy: CachePolicy, _ fields: ResponseFields, status: Int = 200, asked: WallTime, place: Double = 0
    ) -> WallTime {
        guard policy.isReusable else { return asked }
        let now = asked.wholeSecond
        let date = fields.single("date").flatMap { HTTPDate($0, now: now)?.time }
        let part = { (time: Duration) in Duration.milliseconds(Int64(Double((time / Self.spread).milliseconds) * place))
        }
        let said = lifetime(policy, status: status, date: date ?? now, now: now)
        let own = heuristic(policy, date: date ?? now, now: now) ?? standard
        // The spread shortens a lifetime at the ceiling, and lengthens one at the floor.
        let whole = said ?? own - part(own)
        let left = (whole >= ceiling ? ceiling - part(ceiling) : whole) - age(fields, date: date, now: now)
        return asked + (left >= floor ? left : min(floor + part(floor), max(floor, ceiling)))
    }

    /// Whether the times of a row come from a clock that was ahead of this one. Such a row does not count as fresh.
    ///
    /// - Parameters:
    /// - stored: time of the fetch, or of storing.
    /// - expires: result of `freshUntil` at that time.
    package func isBeyond(stored: WallTime, expires: WallTime, at now: WallTime) -> Bool {
        let latest = now + Self.clocks
        return stored > latest || expires > latest + max(floor, ceiling)
    }
    /// Largest difference of workers' clocks, such as a wrong time zone, that does not cause a source to be fetched
    /// again.
    private static let clocks = Duration.hours(2)

    /// Age of the response when it arrived.
    private func age(_ fields: ResponseFields, date: WallTime?, now: WallTime) -> Duration {
        let said = fields.values("age").first?.split(separator: ",", omittingEmptySubsequences: false).first
        if let age = CacheControl.duration(said.map { String($0.filter { $0 != " " }) }) { return age }
        guard let date, !fields.values("via").isEmpty else { return .zero }
        return max(.zero, now - date)
    }

    /// Explicit lifetime; nil if the response gives none and a heuristic one is allowed.
    private func lifetime(_ policy: CachePolicy, status: Int, date: WallTime, now: WallTime) -> Duration? {
        if let maxAge = policy.control.maxAge { return maxAge }
        if let expires = policy.expires {
            return expires > date ? min(expires - date, CacheControl.longest) : .zero
        }
        return policy.control.isPublic || Self.heuristic.contains(status) ? nil : .zero
    }

    /// Lifetime derived from the time since the last change; nil if that time is unknown.
    private func heuristic(_ policy: CachePolicy, date: WallTime, now: WallTime) -> Duration? {
        guard let changed = policy.lastModified.flatMap({ HTTPDate($0, now: now)?.time }) else { return nil }
        let unchanged = min(max(.zero, date - changed), CacheControl.longest)
        return min(unchanged / Self.heuristicShare, Self.heuristicLimit)
    }

    /// Time until which a body that expired at `expires` may be used while it is revalidated.
    package func whileRevalidate(_ policy: CachePolicy, from expires: WallTime) -> WallTime {
        guard policy.allowsStale else { return expires }
        return expires + (policy.control.staleWhileRevalidate ?? whileRevalidate)
    }

    /// Time until which a body that expired at `expires` may be used if its origin fails.
    package func ifError(_ policy: CachePolicy, from expires: WallTime) -> WallTime {
        guard policy.allowsStale else { return expires }
        return expires + (policy.control.staleIfError ?? ifError)
    }

    /// Statuses whose responses may be fresh without an explicit lifetime (RFC 9110, 15.1).
    private static let heuristic: Set = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
}
