internal import Clocks
package import Hosts

/// Numbers of concurrent fetches and renders, and how lanes, hosts and partitions share them.
package struct PermitRules: Sendable, Equatable {
    package var fetch: Int
    package var render: Int
    /// Maximum concurrent slow renders.
    package var slow: Int
    /// Maximum concurrent slow fetches, late ones included. `.max`: as many as fast ones leave, less a quarter of the
    /// permits.
    package var slowFetches = Int.max
    /// Wait after which a slow flight gets its permits even while fast ones wait.
    package var slowWait: Duration
    /// Interval between probes while this machine or a partition's log has a fault.
    package var probeEvery = Duration.seconds(2)
    /// Limit of a partition's rendered flights whose rows its log has not acknowledged. At the limit, the partition
    /// gets no more permits.
    package var announcing = 32
    /// Duration after which a running fetch counts as late. nil: never.
    package var lateAfter: Duration?
    /// The duration that workers use.
    package static let usuallyLate = Duration.seconds(1)
    package var origins: OriginRules
    /// Seed of the jitter of hosts' waits.
    package var seed: UInt64 = 0

    package init(
        fetch: Int = 32, render: Int, slow: Int? = nil, slowWait: Duration = .minutes(1),
        origins: OriginRules = .unbounded
    ) {
        self.origins = origins
        self.fetch = max(1, fetch)
        self.render = max(1, render)
        self.slow = max(1, slow ?? render / 2)
        self.slowWait = slowWait
    }

    /// Maximum concurrent fetches from one host. A host that does not respond leaves the other half to all others.
    package var fetchPerHost: Int { max(1, fetch / 2) }
    /// Maximum slow flights that are fetched, or were and wait for their render. A quarter of the permits is left to
    /// fast flights. Otherwise a fast job would wait for the end of a slow job's fetch.
    var slowFetch: Int { fetch - fetch / 4 }
    /// Maximum concurrent late fetches, in addition to those that hold permits. Each takes a connection here and a
    /// thread at its host.
    package var late: Int { fetch }
    /// Maximum late fetches of slow flights.
    var slowLate: Int { max(1, late / 2) }
    /// Maximum of late fetches and fetches from hosts without a good response, together. At this limit, a quarter of
    /// the permits is left even if all of them become late.
    var doubtful: Int { late + fetch - fetch / 4 }
}
