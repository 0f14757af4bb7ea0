internal import Canonical
internal import Clocks
package import HTTPCache
package import Hosts
package import Planning
package import Ports
package import VariantSpec

/// Settings that a partition's decisions depend on.
package struct PartitionRules: Sendable {
    package var reuse: ReuseRules
    package var retry: RetryPolicy
    /// How long fetched sources count as fresh.
    package var freshness = FreshnessRules()
    /// Freshness of sources whose origin declares none.
    package var maxAge: Duration {
        get { freshness.standard }
        set { freshness.standard = newValue }
    }
    /// Freshness rules of a host, or of a group of hosts.
    func freshness(of origin: OriginHost) -> FreshnessRules {
        let own = origins.limits(of: origin)
        var freshness = freshness
        freshness.floor = own.floor ?? freshness.floor
        freshness.ceiling = own.ceiling ?? freshness.ceiling
        return freshness
    }
    /// How long the worker's own jobs are retried while their host is unavailable.
    var ownLife: Duration { max(freshness.ifError, .days(1)) }
    /// Duration after which a running job is parked, while its flight continues, if later ones are done. A committable offset
    /// that does not move looks like a stall to operators who watch lag.
    package var holdLimit: Duration
    /// Maximum number of jobs that one host holds in memory on each lane, per partition. Further jobs are parked, so that
    /// the jobs behind them are read.
    package var hostShare = Int.max
    package var origins = OriginRules.unbounded
    /// Request headers that origins get. A stored response is fetched again if its `Vary` names a header that has
    /// changed. nil: the headers are always the same.
    package var sent: SentHeaders?
    /// Default qualities of `auto`, once its format is chosen.
    package var qualities: DefaultQualities

    package init(
        reuse: ReuseRules, retry: RetryPolicy = RetryPolicy(), maxAge: Duration = .days(7),
        holdLimit: Duration = .seconds(30), qualities: DefaultQualities = DefaultQualities()
    ) {
        self.qualities = qualities
        (self.reuse, self.retry, self.holdLimit) = (reuse, retry, holdLimit)
        freshness.standard = maxAge
    }
}
