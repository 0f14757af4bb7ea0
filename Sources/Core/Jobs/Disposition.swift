package import Clocks
package import Failures
package import ImageModel
package import Ledger
internal import Positions
package import Records

/// How a record is answered: what is appended before its offset counts as finished.
package indirect enum Disposition: Sendable {
    case outcome(Outcome)
    /// The same by what is stored, and its source is asked for again; nil: that is owed since before.
    ///
    /// The outcome is in the log after all debts that were decided before it: a kill between the two leaves a job that is
    /// done again, and owes the same.
    case owing(Outcome, Debt?)
    /// What was owed is fresh again: `events` tells so before the outcome ends the debt.
    case paid(Outcome)
    /// What was left of a source's change by an owner that died: `events` tells of it before the outcome ends its job.
    case changed(SourceChange, [SourceChange.Variant], Outcome)
    /// Through a retry topic; `notBefore` may be later than the tier's wait ends.
    case retry(PendingJob, DelayTier, FailureNote)
    /// Its producer's key is not what our rules make of its URL: once more, under the right key.
    case rekey(Job)
    /// The original bytes are kept for a person, and the outcome says so.
    case dead(DeadLetter, Outcome)
}

extension Disposition {
    /// Whether a retry topic gets a job by it that waits for its time, whatever its host does.
    package var waitsForTime: Bool {
        switch self {
        case .retry(_, _, let cause): !cause.isOfHost
        case .owing(_, let debt): debt != nil
        default: false
        }
    }

    /// nil: the job goes on.
    package var outcome: Outcome? {
        switch self {
        case .outcome(let outcome), .owing(let outcome, _), .paid(let outcome), .changed(_, _, let outcome),
            .dead(_, let outcome):
            outcome
        case .retry, .rekey: nil
        }
    }
}

/// A job of ours, to come later through a retry topic.
package struct Debt: Sendable {
    package let job: Job
    package let notBefore: WallTime
    package let cause: FailureNote
    /// The record of the job that it follows from.
    package let record: Record
    /// Of a source that has changed, what stood before: a job for each part of it.
    package var change: SourceChange?

    init(job: Job, notBefore: WallTime, cause: FailureNote, after record: Record, change: SourceChange? = nil) {
        (self.job, self.notBefore, self.cause) = (job, notBefore, cause)
        (self.record, self.change) = (record, change)
    }
}
