package import Clocks

/// What a redirect says of its own caching, which limits the freshness of its target.
package struct RedirectHop: Sendable, Hashable {
    private let policy: CachePolicy
    private let fields: AnswerFields
    private let status: Int
    /// When its request was begun.
    private let asked: WallTime

    /// - Parameters:
    ///   - sent: the request's headers.
    ///   - asked: when the request was begun.
    package init(_ fields: AnswerFields, status: Int, sent: [(name: String, value: String)], asked: WallTime) {
        policy = CachePolicy(fields, status: status, sent: sent, now: asked.wholeSecond)
        (self.fields, self.status, self.asked) = (fields, status, asked)
    }

    /// Until when the redirect may be followed without asking. A temporary one (302, 303, 307) that says nothing is asked for
    /// each time (RFC 9110, 15.4).
    fileprivate func freshUntil(_ rules: FreshnessRules, place: Double) -> WallTime {
        rules.freshUntil(policy, fields, status: status, asked: asked, place: place)
    }

    fileprivate func restrict(_ redirects: inout CacheControl.Redirects) {
        if !policy.isReusable { redirects.noCache = true }
        if policy.control.mustRevalidate { redirects.mustRevalidate = true }
    }
}

extension [RedirectHop] {
    /// What they forbid of their own reuse, and so of the target's. The target's answer may still be stored, with its
    /// validators.
    package var restrictions: CacheControl.Redirects { reduce(into: CacheControl.Redirects()) { $1.restrict(&$0) } }

    /// - Parameter end: until when the target's answer is fresh by itself.
    package func freshUntil(_ end: WallTime, _ rules: FreshnessRules, place: Double) -> WallTime {
        reduce(end) { Swift.min($0, $1.freshUntil(rules, place: place)) }
    }
}
