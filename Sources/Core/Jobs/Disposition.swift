package import Canonical
package import Clocks
package import Failures
package import ImageModel
internal import Ledger
internal import Positions
package import Records

/// Result of a record, which is appended before its offset counts as finished.
package indirect enum Disposition: Sendable {
    case outcome(Outcome)
    /// A stored outcome whose source will be fetched again; nil: an earlier pending refresh already covers that.
    ///
    /// The outcome is in the log after all pending refreshes that were decided before it. A kill between the two leaves
    /// a job that is done again and owes the same.
    case refreshing(Outcome, PendingRefresh?)
    /// Outcome that pays a pending refresh: `events` reports the refreshed variants before the outcome ends the pending
    /// refresh.
    case paid(Outcome)
    /// The rest of a source's change that a crashed owner left. `events` reports it before the outcome ends its job.
    case changed(SourceChange, [SourceChange.Variant], Outcome)
    /// The first or next row of a job that waits. `notBefore` of the job is when it is due.
    case park(PendingJob, Parking, FailureNote)
    /// The same job's row with another lane, which a control demands.
    case move(ParkedRow)
    /// The end of a control.
    case control(ControlOutcome)
    /// The end of a parked job whose outcome is durable: the tombstone of its row.
    case unpark
    /// A mis-keyed record, whose key differs from the one derived from its URL. It is republished under the right key.
    case rekey(Job)
    /// A dead letter, which keeps the original bytes for an operator, with its outcome.
    case dead(DeadLetter, Outcome)
}

extension Disposition {
    /// The job's outcome. nil: the job is not over.
    package var outcome: Outcome? {
        switch self {
        case .outcome(let outcome), .refreshing(let outcome, _), .paid(let outcome), .changed(_, _, let outcome),
            .dead(_, let outcome):
            outcome
        case .park, .move, .control, .unpark, .rekey: nil
        }
    }
}

/// Host and lane by which a parked job is scheduled, and its end.
package struct Parking: Sendable, Hashable {
    package let host: OriginHost
    package let worksAs: Lane
    /// Whether the job runs: its row must not start.
    package let isRunning: Bool
    /// Time at which the job expires or is abandoned; nil: never.
    package let ends: WallTime?

    package init(_ host: OriginHost, isRunning: Bool = false, worksAs: Lane, ends: WallTime?) {
        (self.host, self.isRunning, self.worksAs, self.ends) = (host, isRunning, worksAs, ends)
    }
}

/// A job of the worker's own, which is parked and runs later.
package struct PendingRefresh: Sendable {
    package let job: Job
    package let notBefore: WallTime
    package let parking: Parking
    package let cause: FailureNote
    /// Record of the job that caused the pending refresh.
    package let record: Record
    /// Earlier state of a source that has changed. The change is split into one job for each part.
    package var change: SourceChange?

    /// - Parameter host: host in whose share the job waits.
    init(
        job: Job, notBefore: WallTime, for host: OriginHost, cause: FailureNote, after record: Record,
        change: SourceChange? = nil
    ) {
        (self.job, self.notBefore, self.cause) = (job, notBefore, cause)
        parking = Parking(host, worksAs: job.lane, ends: job.expires)
        (self.record, self.change) = (record, change)
    }
}
