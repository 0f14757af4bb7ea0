package import Clocks
package import Failures
package import ImageModel
package import Ledger
internal import Positions
package import Records

/// Result of a record, which is appended before its offset counts as finished.
package indirect enum Disposition: Sendable {
    case outcome(Outcome)
    /// A stored outcome whose source will be fetched again; nil: an earlier debt already covers that.
    ///
    /// The outcome is in the log after all debts that were decided before it. A kill between the two leaves a job that
    /// is done again and owes the same.
    case owing(Outcome, Debt?)
    /// Outcome that pays a debt: `events` reports the refreshed variants before the outcome ends the debt.
    case paid(Outcome)
    /// The rest of a source's change that a crashed owner left. `events` reports it before the outcome ends its job.
    case changed(SourceChange, [SourceChange.Variant], Outcome)
    /// A retry through a delay topic. `notBefore` may be later than the end of the topic's delay.
    case retry(PendingJob, DelayTier, FailureNote)
    /// A mis-keyed record, whose key differs from the one derived from its URL. It is republished under the right key.
    case rekey(Job)
    /// A dead letter, which keeps the original bytes for an operator, with its outcome.
    case dead(DeadLetter, Outcome)
}

extension Disposition {
    /// Whether it appends a record to a delay topic that waits for its time, not only for its host.
    package var waitsForTime: Bool {
        switch self {
        case .retry(_, _, let cause): !cause.isOfHost
        case .owing(_, let debt): debt != nil
        default: false
        }
    }

    /// The job's outcome. nil: the job is not over.
    package var outcome: Outcome? {
        switch self {
        case .outcome(let outcome), .owing(let outcome, _), .paid(let outcome), .changed(_, _, let outcome),
            .dead(_, let outcome):
            outcome
        case .retry, .rekey: nil
        }
    }
}

/// A job of the worker's own, which runs later through a retry topic.
package struct Debt: Sendable {
    package let job: Job
    package let notBefore: WallTime
    package let cause: FailureNote
    /// Record of the job that caused the debt.
    package let record: Record
    /// Earlier state of a source that has changed. The change is split into one job for each part.
    package var change: SourceChange?

    init(job: Job, notBefore: WallTime, cause: FailureNote, after record: Record, change: SourceChange? = nil) {
        (self.job, self.notBefore, self.cause) = (job, notBefore, cause)
        (self.record, self.change) = (record, change)
    }
}
