package import Canonical
package import Failures
internal import Records

/// Cache from the authority of recent URLs to the host that they are counted for. Jobs come by the ten thousand for a
/// few hosts. Finding the host of a URL was nearly half the cost of deferring a job.
package struct RecentOrigins: Sendable {
    private var known: [Substring: OriginHost] = [:]
    /// The last crowded host, and its failure note.
    private var crowd: (host: OriginHost, cause: FailureNote)?

    /// Maximum cached authorities. All are dropped when the cache is full.
    static let limit = 64

    package init() {}

    package mutating func origin(of url: SourceURL, in groups: [OriginGroup]) -> OriginHost {
        let authority = url.authority
        if let origin = known[authority] { return origin }
        let text = String(authority)
        let origin = groups.origin(of: text)
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        // A copy, because a substring would keep the whole URL in memory.
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
