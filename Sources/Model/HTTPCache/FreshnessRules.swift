/// How long answers count as fresh: by RFC 9111 for a private cache, within what the settings say.
package struct FreshnessRules: Sendable, Hashable {
    /// In milliseconds, as all times here. Nothing is asked for again sooner, except what forbids its reuse.
    package var floor: Int64 = 0
    /// Nothing counts as fresh for longer: what an origin says, what follows from its dates, and `standard`.
    package var ceiling: Int64 = 30 * 86_400_000
    /// Where nothing is said.
    package var standard: Int64 = 7 * 86_400_000
    /// How long what is not fresh may be used where its origin fails, unless that has said so itself.
    package var ifError: Int64 = 7 * 86_400_000
    /// How long what is not fresh may be used while it is asked for again, unless its origin has said so itself.
    package var whileRevalidate: Int64 = 0

    /// Of the time since it was changed, a tenth, and three days at most.
    package static let heuristicShare: Int64 = 10
    package static let heuristicLimit: Int64 = 3 * 86_400_000
    /// Times that are ours, and no origin's, differ from one source to the next by up to a tenth: what was stored together is
    /// not all asked for again together.
    private static let spread: Int64 = 10

    package init() {}

    /// Until when an answer may be used without asking, milliseconds since 1970.
    ///
    /// Its `Date` counts only against its own other dates: between an origin and this worker the difference tells of their
    /// clocks. Where the answer went through other caches, those say how old it is.
    ///
    /// - Parameters:
    ///   - policy: of this answer; where it is a 304, as updated by it.
    ///   - asked: when its request was begun, milliseconds since 1970.
    ///   - place: of its source among all sources, 0..<1, always the same: how far its times are apart from others'.
    package func freshUntil(
        _ policy: CachePolicy, _ fields: AnswerFields, status: Int = 200, asked: Int64, place: Double = 0
    ) -> Int64 {
        guard policy.isReusable else { return asked }
        let now = asked / 1000
        let date = fields.single("date").flatMap { HTTPDate($0, now: now)?.seconds }
        let part = { (time: Int64) in Int64(Double(time / Self.spread) * place) }
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
    ///   - stored: when it was fetched or stored, milliseconds since 1970.
    ///   - expires: what `freshUntil` said of it then.
    package func isBeyond(stored: Int64, expires: Int64, at now: Int64) -> Bool {
        let latest = Self.later(now, Self.clocks)
        return stored > latest || expires > Self.later(latest, max(floor, ceiling))
    }
    /// The difference of workers' clocks, such as a wrong time zone, up to which no source is fetched again because of it.
    private static let clocks: Int64 = 2 * 3_600_000

    /// How old the answer was when it came.
    private func age(_ fields: AnswerFields, date: Int64?, now: Int64) -> Int64 {
        let said = fields.values("age").first?.split(separator: ",", omittingEmptySubsequences: false).first
        if let age = CacheControl.seconds(said.map { String($0.filter { $0 != " " }) }) { return age * 1000 }
        guard let date, !fields.values("via").isEmpty else { return 0 }
        return max(0, now - date) * 1000
    }

    /// nil where nothing is said.
    private func lifetime(_ policy: CachePolicy, status: Int, date: Int64, now: Int64) -> Int64? {
        if let seconds = policy.control.maxAge { return seconds * 1000 }
        if let expires = policy.expires {
            return expires > date ? min(expires - date, CacheControl.most) * 1000 : 0
        }
        return policy.control.isPublic || Self.heuristic.contains(status) ? nil : 0
    }

    /// What follows from how long it has been unchanged; nil where that is not said.
    private func heuristic(_ policy: CachePolicy, date: Int64, now: Int64) -> Int64? {
        guard let changed = policy.lastModified.flatMap({ HTTPDate($0, now: now)?.seconds }) else { return nil }
        let unchanged = min(max(0, date - changed), CacheControl.most) * 1000
        return min(unchanged / Self.heuristicShare, Self.heuristicLimit)
    }

    /// Until when what was fresh until `expires` may be used while it is asked for again.
    package func whileRevalidate(_ policy: CachePolicy, from expires: Int64) -> Int64 {
        guard policy.allowsStale else { return expires }
        return Self.later(expires, policy.control.staleWhileRevalidate.map { $0 * 1000 } ?? whileRevalidate)
    }

    /// Until when what was fresh until `expires` may be used where its origin fails.
    package func ifError(_ policy: CachePolicy, from expires: Int64) -> Int64 {
        guard policy.allowsStale else { return expires }
        return Self.later(expires, policy.control.staleIfError.map { $0 * 1000 } ?? ifError)
    }

    /// Of rows too, which may name any time.
    private static func later(_ time: Int64, _ wait: Int64) -> Int64 {
        let (sum, isOver) = time.addingReportingOverflow(wait)
        return isOver ? .max : sum
    }

    /// Statuses whose answers may be fresh though nothing says so (RFC 9110, 15.1).
    private static let heuristic: Set = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
}
