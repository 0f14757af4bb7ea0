package import Canonical
package import Failures
package import Ledger
package import Permits
package import Ports
package import Records

/// Effect of an event in `Jobs`. `PartitionState.run` performs all but `work`, which the runtime performs.
///
/// Large and rare cases are `indirect`, because the others are moved by the hundred thousand.
package enum JobEffect: Sendable {
    /// Looks up the stored variants of the job's source, which decide how it continues.
    case lookUp(PendingJob)
    case permit(PermitChange)
    case work(Effect)
}

/// Result of fetching a source, compared with the stored one.
package enum SourceCheck: String, Sendable, CaseIterable {
    /// The source was not known.
    case new
    /// The origin responded that it is not modified.
    case notModified
    /// The bytes are the same as before.
    case same
    case changed

    /// Whether the fetch found nothing new.
    package var isMatch: Bool { self == .notModified || self == .same }
}

/// A partition's request to the runtime, which `Worker.perform` performs.
package enum Effect: Sendable {
    indirect case fetch(FlightID, FetchRequest)
    indirect case render(FlightID, RenderTask)
    /// Cancels a fetch that no job needs any more. Its permit is free once it has ended.
    case abort(FlightID)
    /// Counts a request to a source's host, or to its group.
    case checked(OriginHost, SourceCheck)
    /// Counts a job that was completed with stored variants instead.
    case stoodIn(OriginHost)
    /// Keeps a job until the index can be read, then looks it up again.
    case await(PendingJob)
    /// Reports that the job will be retried, with the reason.
    case putOff(PendingJob, FailureNote)
    /// Applies a control to the rows of `parked`, and asks the log which jobs were published before it.
    case control(Control, Record)
    /// Appends the disposition. `acknowledged` follows.
    case complete(Record, Disposition)
    /// Commits an offset, below which every record of the topic is finished.
    case commit(Topic, Int64)
    /// Notifies operators.
    case tell(PermitNotice)
}
