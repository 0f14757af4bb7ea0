internal import Clocks
package import Hosts

/// How many fetches and renders may run, and how lanes, hosts and partitions share them.
package struct PermitRules: Sendable, Equatable {
    package var fetch: Int
    package var render: Int
    /// Slow renders at once.
    package var slow: Int
    /// Slow fetches at once, late ones among them; `.max`: as many as fast ones leave, less a quarter of the permits.
    package var slowFetches = Int.max
    /// A slow flight that has waited so long gets its permits even while fast ones wait.
    package var slowWait: Duration
    /// While this machine, or a partition's log, cannot do its part, one flight is let through so often.
    package var probeEvery = Duration.seconds(2)
    /// Flights of one partition that are rendered and whose rows its log has not acknowledged: with so many, it gets no more
    /// permits.
    package var announcing = 32
    /// A fetch that has run for so long is late; where nothing is said, none is.
    package var lateAfter: Duration?
    /// What a worker says.
    package static let usuallyLate = Duration.seconds(1)
    package var origins: OriginRules
    /// Of the jitter of hosts' waits.
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

    /// Fetches from one host at once: a host that does not answer leaves the other half to all others.
    package var fetchPerHost: Int { max(1, fetch / 2) }
    /// Slow flights that are fetched, or were and wait for their render: a quarter of the permits is left to fast ones, or a
    /// fast job would wait for the end of a slow one's fetch.
    var slowFetch: Int { fetch - fetch / 4 }
    /// Late fetches at once, beside those that hold permits: each takes a connection, and its host a thread.
    package var late: Int { fetch }
    /// Those of slow flights among them.
    var slowLate: Int { max(1, late / 2) }
    /// Late fetches and those of hosts without a good answer, together: with so many, a quarter of the permits is left even
    /// if all of them become late.
    var doubtful: Int { late + fetch - fetch / 4 }
}
