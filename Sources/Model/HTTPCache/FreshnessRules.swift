package import Clocks

/// How long answers count as fresh: by RFC 9111 for a private cache, within what the settings say.
package struct FreshnessRules: Sendable, Hashable {
    /// Nothing is asked for again sooner, except what forbids its reuse.
    package var floor = Duration.zero
    /// Nothing counts as fresh for longer: what an origin says, what follows from its dates, and `standard`.
    package var ceiling = Duration.days(30)
    /// Where nothing is said.
    package var standard = Duration.days(7)
    /// How long what is not fresh may be used where its origin fails, unless that has said so itself.
    package var ifError = Duration.days(7)
    /// How long what is not fresh may be used while it is asked for again, unless its origin has said so itself.
    package var whileRevalidate = Duration.zero

    /// Of the time since it was changed, a tenth, and three days at most.
    package static let heuristicShare = 10
    package static let heuristicLimit = Duration.days(3)
    /// Times that are ours, and no origin's, differ from one source to the next by up to a tenth: what was stored together is
    /// not all asked for again together.
    private static let spread = 10

    package init() {}

    /// Until when an answer may be used without asking.
    ///
    /// Its `Date` counts only against its own other dates: between an origin and this worker the difference tells of their
    /// clocks. Where the answer went through other caches, those say how old it is.
    ///
    /// - Parameters:
    ///   - policy: of this answer; where it is a 304, as updated by it.
    ///   - asked: when its request was begun.
    ///   - place: of its source among all sources, 0..<1, always the same: how far its times are apart from others'.
    package func freshUntil(
        _ policy: CachePolicy, _ fields: AnswerFields, status: Int = 200, asked: WallTime, place: Double = 0
    ) -> WallTime {
        guard policy.isReusable else { return asked }
        let now = asked.wholeSecond
        let date = fields.single("date").flatMap { HTTPDate($0, now: now)?.time }
        let part = { (time: Duration) in Duration.milliseconds(Int64(Double((time / Self.spread).milliseconds) * place))
        }
        let said = lifetime(policy, status: status, date: date ?? now, now: now)
        let own = heuristic(policy, date: date ?? now, now: now) ?? standard
        // Sooner than what may not be exceeded, and later than what is asked of us.
        let whole = said ?? own - part(own)
        let left = (whole >= ceiling ? ceiling - part(ceiling) : whole) - age(fields, date: date, now: now)
        return asked + (left >= floor ? left : min(floor + part(floor), max(floor, ceiling)))
    }

    /// Whether times of a row are of a clock that was ahead of this one: nothing counts as fresh by them.
    ///
    /// - Parameters:
    ///   - stored: when it was fetched or stored.
    ///   - expires: what `freshUntil` said of it then.
    package func isBeyond(stored: WallTime, expires: WallTime, at now: WallTime) -> Bool {
        let latest = now + Self.clocks
        return stored > latest || expires > latest + max(floor, ceiling)
    }
    /// The difference of workers' clocks, such as a wrong time zone, up to which no source is fetched again because of it.
    private static let clocks = Duration.hours(2)

    /// How old the answer was when it came.
    private func age(_ fields: AnswerFields, date: WallTime?, now: WallTime) -> Duration {
        let said = fields.values("age").first?.split(separator: ",", omittingEmptySubsequences: false).first
        if let age = CacheControl.duration(said.map { String($0.filter { $0 != " " }) }) { return age }
        guard let date, !fields.values("via").isEmpty else { return .zero }
        return max(.zero, now - date)
    }

    /// nil where nothing is said.
    private func lifetime(_ policy: CachePolicy, status: Int, date: WallTime, now: WallTime) -> Duration? {
        if let maxAge = policy.control.maxAge { return maxAge }
        if let expires = policy.expires {
            return expires > date ? min(expires - date, CacheControl.longest) : .zero
        }
        return policy.control.isPublic || Self.heuristic.contains(status) ? nil : .zero
    }

    /// What follows from how long it has been unchanged; nil where that is not said.
    private func heuristic(_ policy: CachePolicy, date: WallTime, now: WallTime) -> Duration? {
        guard let changed = policy.lastModified.flatMap({ HTTPDate($0, now: now)?.time }) else { return nil }
        let unchanged = min(max(.zero, date - changed), CacheControl.longest)
        return min(unchanged / Self.heuristicShare, Self.heuristicLimit)
    }

    /// Until when what was fresh until `expires` may be used while it is asked for again.
    package func whileRevalidate(_ policy: CachePolicy, from expires: WallTime) -> WallTime {
        guard policy.allowsStale else { return expires }
        return expires + (policy.control.staleWhileRevalidate ?? whileRevalidate)
    }

    /// Until when what was fresh until `expires` may be used where its origin fails.
    package func ifError(_ policy: CachePolicy, from expires: WallTime) -> WallTime {
        guard policy.allowsStale else { return expires }
        return expires + (policy.control.staleIfError ?? ifError)
    }

    /// Statuses whose answers may be fresh though nothing says so (RFC 9110, 15.1).
    private static let heuristic: Set = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
}
