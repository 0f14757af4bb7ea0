package import Canonical
package import Failures
package import ImageModel
package import Records

/// What the runtime must do for a partition.
///
/// Large and rare cases are `indirect`: the others are moved by the hundred thousand.
package enum PartitionEffect: Sendable {
    case lookUp(PendingJob)
    case request(PermitKind, FlightID, Lane, since: Int64, OriginHost)
    case release(PermitKind, FlightID)
    case move(FlightID, Lane, since: Int64)
    /// The flight ended by this machine's fault, not by its job's.
    case halt(FlightID)
    /// The flight ended since its partition's log did not take its rows.
    case hold(FlightID)
    /// The flight's work is stored and announced.
    case pass(FlightID)
    /// The flight is over: drop its permits and its files.
    case forget(FlightID)
    case fetch(FlightID, url: String, Lane)
    indirect case render(FlightID, RenderTask)
    /// The job is tried again later, for this reason.
    case putOff(PendingJob, FailureNote)
    case settle(Record, Disposition)
    case commit(Topic, Int64)
}
