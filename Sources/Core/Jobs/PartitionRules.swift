internal import Canonical
internal import Clocks
package import HTTPCache
package import Hosts
package import Planning
package import Ports
package import VariantSpec

/// What a partition's decisions depend on.
package struct PartitionRules: Sendable {
    package var reuse: ReuseRules
    package var retry: RetryPolicy
    /// How long what was fetched counts as fresh.
    package var freshness = FreshnessRules()
    /// The same where its origin says nothing of it.
    package var maxAge: Duration {
        get { freshness.standard }
        set { freshness.standard = newValue }
    }
    /// The same of a host, or of a group of hosts.
    func freshness(of origin: OriginHost) -> FreshnessRules {
        let own = origins.limits(of: origin)
        var freshness = freshness
        freshness.floor = own.floor ?? freshness.floor
        freshness.ceiling = own.ceiling ?? freshness.ceiling
        return freshness
    }
    /// For how long the worker's own jobs are tried while their host is away.
    var ownLife: Duration { max(freshness.ifError, .days(1)) }
    /// A job that has run so long while later ones are done goes to a retry topic: a committable offset that stands
    /// still looks like a stall to those who watch lag.
    package var holdLimit: Duration
    /// Jobs whose short waits are kept in memory, for each partition: progress rows tell of each.
    package var shortWaits: Int
    /// A job that waits in memory while so many later records were taken up goes to a retry topic: else reading would stop
    /// behind it.
    package var waitSpan = 4_096
    /// Jobs that one host holds in memory on each lane, for each partition: more go to a tier, so that those behind them are
    /// read.
    package var hostShare = Int.max
    package var origins = OriginRules.unbounded
    /// What origins are asked with: what was stored of other headers' answers is asked for again, where their `Vary` names
    /// one that changed. nil: always the same.
    package var sent: SentHeaders?
    /// Of `auto`, once its format is chosen.
    package var qualities: DefaultQualities

    package init(
        reuse: ReuseRules, retry: RetryPolicy = RetryPolicy(), maxAge: Duration = .days(7),
        holdLimit: Duration = .seconds(30),
        shortWaits: Int = 256, qualities: DefaultQualities = DefaultQualities()
    ) {
        self.qualities = qualities
        (self.reuse, self.retry, self.holdLimit, self.shortWaits) = (reuse, retry, holdLimit, shortWaits)
        freshness.standard = maxAge
    }
}
