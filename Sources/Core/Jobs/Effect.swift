package import Canonical
internal import Clocks
package import Failures
package import Ledger
package import Permits
package import Ports
package import Records

/// What an event leads to in `Jobs`: `PartitionState.run` performs all but `work`, which is the runtime's.
///
/// Large and rare cases are `indirect`: the others are moved by the hundred thousand.
package enum JobEffect: Sendable {
    /// What is stored for the job's source decides what becomes of it.
    case lookUp(PendingJob)
    case permit(PermitChange)
    case work(Effect)
}

/// What a fetch found of a source.
package enum SourceCheck: String, Sendable, CaseIterable {
    /// Nothing was known of it.
    case new
    /// Its origin said so.
    case notModified
    /// The same bytes as before.
    case same
    case changed

    /// Whether it found nothing new.
    package var isMatch: Bool { self == .notModified || self == .same }
}

/// What a partition asks of the runtime; `Worker.perform` performs it.
package enum Effect: Sendable {
    indirect case fetch(FlightID, FetchRequest)
    indirect case render(FlightID, RenderTask)
    /// Nobody waits for the fetch any more. Its permit is free once it has ended.
    case abort(FlightID)
    /// A source's host, or its group, was asked.
    case checked(OriginHost, SourceCheck)
    /// What is stored answered a job instead.
    case stoodIn(OriginHost)
    /// What is stored cannot be told now: the job is looked up again once it can.
    case await(PendingJob)
    /// The job is tried again later, for this reason.
    case putOff(PendingJob, FailureNote)
    /// The disposition is appended; `acknowledged` follows.
    case answer(Record, Disposition)
    /// Every record of the topic below the offset is finished.
    case commit(Topic, Int64)
    /// People should know.
    case tell(PermitNotice)
}
