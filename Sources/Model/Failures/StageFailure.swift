/// Reason why a stage of a job failed: a bounded code for metrics, a sentence for people, a verdict for the job.
package protocol StageFailure: Error, Sendable, CustomStringConvertible {
    /// Metric label of the form `stage.reason`, from a bounded set.
    var code: String { get }
    /// Sentence that says what happened, to what, and what to do.
    var description: String { get }
    var verdict: Verdict { get }
    /// Whether code or description must be hidden from publishers; `FailureNote.published` is the public form.
    var isConfidential: Bool { get }
    /// Every code of this stage, for the reference page.
    static var catalogue: [CodeEntry] { get }
}

extension StageFailure {
    package var isConfidential: Bool { false }
}
