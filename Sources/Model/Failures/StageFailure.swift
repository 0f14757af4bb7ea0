/// Why a stage of a job could not be done: a bounded code for metrics, a sentence for people, a verdict for the job.
package protocol StageFailure: Error, Sendable, CustomStringConvertible {
    /// Bounded: `stage.reason`, a metric label.
    var code: String { get }
    /// What happened, to what, and what to do.
    var description: String { get }
    var verdict: Verdict { get }
    /// Whether it says what those who publish must not hear; `FailureNote.told` is what they do.
    var isConfidential: Bool { get }
    /// Every code of this stage, for the reference page.
    static var catalogue: [CodeEntry] { get }
}

extension StageFailure {
    package var isConfidential: Bool { false }
}
