/// What happens to a job whose stage failed.
package enum Verdict: String, Sendable, Hashable {
    /// Later, through the retry topic.
    case retry
    /// Later, without counting an attempt: the fault is this machine's, not the job's.
    case wait
    /// Never: an outcome says why.
    case fail
    /// A person must look: the original bytes are kept.
    case deadLetter = "dead letter"
}

/// Why a stage of a job could not be done: a bounded code for metrics, a sentence for people, a verdict for the job.
package protocol StageFailure: Error, Sendable, CustomStringConvertible {
    /// Bounded: `stage.reason`, a metric label.
    var code: String { get }
    /// What happened, to what, and what to do.
    var description: String { get }
    var verdict: Verdict { get }
    /// Every code of this stage, for the reference page.
    static var catalogue: [CodeEntry] { get }
}

/// The codes of one stage: what each means, and what it does to the job. The one place where a code is written.
package protocol FailureCode: RawRepresentable<String>, CaseIterable, Sendable, Hashable {
    /// For the reference page.
    var meaning: String { get }
    var verdict: Verdict { get }
}

/// A stage's failure whose code, verdict and catalogue all come from its table of codes.
package protocol CodedFailure: StageFailure {
    associatedtype Code: FailureCode
    var kind: Code { get }
}

extension CodedFailure {
    package var code: String { kind.rawValue }
    package var verdict: Verdict { kind.verdict }
    package static var catalogue: [CodeEntry] { Code.allCases.map { CodeEntry($0.rawValue, $0.meaning, $0.verdict) } }
}

/// One line of the reference page.
package struct CodeEntry: Sendable, Hashable {
    package let code: String
    package let meaning: String
    package let verdict: Verdict
    package init(_ code: String, _ meaning: String, _ verdict: Verdict) {
        (self.code, self.meaning, self.verdict) = (code, meaning, verdict)
    }
}

/// A failure as a value: what an outcome, a retry or a dead letter carries of it.
package struct FailureNote: Sendable, Hashable {
    package let code: String
    package let message: String
    package let verdict: Verdict
    package init(code: String, message: String, verdict: Verdict) {
        (self.code, self.message, self.verdict) = (code, message, verdict)
    }
    package init(_ failure: some StageFailure) {
        self.init(code: failure.code, message: failure.description, verdict: failure.verdict)
    }
}
