package import Clocks

/// Caching headers of a redirect, which limit the freshness of its target.
package struct RedirectHop: Sendable, Hashable {
    private let policy: CachePolicy
    private let fields: ResponseFields
    private let status: Int
    /// Start of the redirect's request.
    private let asked: WallTime

    /// - Parameters:
    /// - sent: the request's headers.
    /// - asked: start of the request.
    package init(_ fields: ResponseFields, status: Int, sent: [(name: String, value: String)], asked: WallTime) {
        policy = CachePolicy(fields, status: status, sent: sent, now: asked.wholeSecond)
        (self.fields, self.status, self.asked) = (fields, status, asked)
    }

    /// Time until which the redirect may be followed without a new request. A temporary redirect (302, 303, 307)
    /// without a lifetime is requested each time (RFC 9110, 15.4).
    fileprivate func freshUntil(_ rules: FreshnessRules, place: Double) -> WallTime {
        rules.freshUntil(policy, fields, status: status, asked: asked, place: place)
    }

    fileprivate func restrict(_ redirects: inout CacheControl.Redirects) {
        if !policy.isReusable { redirects.noCache = true }
        if policy.control.mustRevalidate { redirects.mustRevalidate = true }
    }
}

extension [RedirectHop] {
    /// Restrictions on the reuse of the redirects, and so of their target. The target's response may still be stored,
    /// with its validators.
    package var restrictions: CacheControl.Redirects { reduce(into: CacheControl.Redirects()) { $1.restrict(&$0) } }

    /// The earliest end of freshness of the target and of the redirects.
    ///
    /// - Parameter end: end of the target's own freshness.
    package func freshUntil(_ end: WallTime, _ rules: FreshnessRules, place: Double) -> WallTime {
        reduce(end) { Swift.min($0, $1.freshUntil(rules, place: place)) }
    }
}
