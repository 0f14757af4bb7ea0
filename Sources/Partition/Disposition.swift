package import Failures
package import ImageModel
package import Records

/// How a record is answered: what is appended before its offset counts as finished.
package indirect enum Disposition: Sendable {
    case outcome(Outcome)
    /// The same, and its source is asked for again.
    case owing(Outcome, Debt)
    /// Through a retry topic; `notBefore` may be later than the tier's wait ends.
    case retry(PendingJob, DelayTier, FailureNote)
    /// Its producer's key is not what our rules make of its URL: once more, under the right key.
    case rekey(Job)
    /// The original bytes are kept for a person, and the outcome says so.
    case dead(DeadLetter, Outcome)
}

/// A job of ours, to come later through a retry topic.
package struct Debt: Sendable {
    package let job: Job
    /// Milliseconds since 1970.
    package let notBefore: Int64
    package let cause: FailureNote
}
