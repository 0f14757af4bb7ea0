package import Canonical
package import Failures
internal import Records

/// Whom the last jobs' URLs ask, by what stands before their paths: jobs come by the ten thousand of a few hosts, and to find
/// out who is asked for a URL was nearly half of what it cost to put a job off.
package struct RecentOrigins: Sendable {
    private var known: [Substring: OriginHost] = [:]
    /// The last host that was crowded, and what is said of that.
    private var crowd: (host: OriginHost, cause: FailureNote)?

    /// Servers. All are let go when there is no room.
    static let limit = 64

    package init() {}

    package mutating func origin(of url: SourceURL, in groups: [OriginGroup]) -> OriginHost {
        let authority = url.authority
        if let origin = known[authority] { return origin }
        let text = String(authority)
        let origin = groups.origin(of: text)
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        // A copy: a part of the URL would keep the whole.
        known[text[...]] = origin
        return origin
    }

    package mutating func crowded(_ host: OriginHost) -> FailureNote {
        if let crowd, crowd.host == host { return crowd.cause }
        let cause = FailureNote(RetryCause.hostCrowded(host: host.description))
        crowd = (host, cause)
        return cause
    }
}
