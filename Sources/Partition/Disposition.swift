package import Failures
package import ImageModel
package import Records

/// How a record is answered: what is appended before its offset counts as finished.
package indirect enum Disposition: Sendable {
    case outcome(Outcome)
    /// Through a retry topic; `notBefore` may be later than the tier's wait ends.
    case retry(PendingJob, DelayTier, FailureNote)
    /// Its producer's key is not what our rules make of its URL: once more, under the right key.
    case rekey(Job)
    /// The original bytes are kept for a person, and the outcome says so.
    case dead(DeadLetter, Outcome)
}
