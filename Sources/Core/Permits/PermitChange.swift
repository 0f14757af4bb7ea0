package import Canonical
package import Clocks
package import Hosts
package import ImageModel
package import Ledger

/// What a flight tells the permits of its worker.
package enum PermitChange: Sendable {
    /// `behind`: where its host is known to lead, if that is another one.
    case request(PermitKind, FlightID, Lane, since: WallTime, OriginHost, behind: OriginHost?)
    /// The flight's first permit, once nothing else is under way in the worker. It waits for so long first.
    indirect case isolate(Solitude.Request, patience: Duration)
    case release(PermitKind, FlightID)
    case move(FlightID, Lane, since: WallTime)
    /// The flight ended by this machine's fault, or by its partition's log, and not by its job's.
    case fail(FlightID, PermitScheduler.Obstacle)
    /// The flight's work is stored and announced.
    case pass(FlightID)
    /// How the flight's host answered, with the code of its failure, and since when its jobs that were tried before have had none.
    case hear(OriginAnswer, FlightID, code: String, failingSince: WallTime? = nil)
    /// The flight is over.
    case forget(FlightID)
}

/// What people should know of the permits of a worker.
package enum PermitNotice: Sendable {
    /// A circuit breaker opened, or closed.
    case opened(PermitScheduler.Obstacle)
    case closed(PermitScheduler.Obstacle)
    /// The same of a host that is left alone, and of one that answers again.
    case blocked(OriginHost)
    case unblocked(OriginHost)
}
