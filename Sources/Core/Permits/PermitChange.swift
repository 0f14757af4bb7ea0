package import Canonical
package import Clocks
package import Hosts
package import ImageModel
package import Ledger
package import Quarantine

/// A flight's message to its worker's permits.
package enum PermitChange: Sendable {
    /// `behind`: the host that this host is known to redirect to, if that is another one.
    case request(PermitKind, FlightID, Lane, since: WallTime, OriginHost, behind: OriginHost?)
    /// The first permit of a flight that must run alone. It waits for `patience` first.
    indirect case isolate(IsolatedRuns.Request, patience: Duration)
    case release(PermitKind, FlightID)
    case move(FlightID, Lane, since: WallTime)
    /// The flight ended by a fault of this machine or of its partition's log, not of its job.
    case fail(FlightID, PermitScheduler.Obstacle)
    /// The flight's results are stored and announced.
    case pass(FlightID)
    /// The response of the flight's host, with its failure code. `failingSince`: when its retried jobs first got no
    /// response.
    case hear(OriginResponse, FlightID, code: String, failingSince: WallTime? = nil)
    /// The flight is over.
    case forget(FlightID)
}

/// Changes of a worker's permits that operators are notified of.
package enum PermitNotice: Sendable {
    /// A circuit breaker opened, or closed.
    case opened(PermitScheduler.Obstacle)
    case closed(PermitScheduler.Obstacle)
    /// A host was blocked, or responds again.
    case blocked(OriginHost)
    case unblocked(OriginHost)
}
