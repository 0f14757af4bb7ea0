/// The codes of one stage: what each means, and what it does to the job. The one place where a code is written.
package protocol FailureCode: RawRepresentable<String>, CaseIterable, Sendable, Hashable {
    /// For the reference page.
    var meaning: String { get }
    var verdict: Verdict { get }
}

extension FailureCode {
    /// The lines of the reference page.
    package static var catalogue: [CodeEntry] { allCases.map { CodeEntry($0.rawValue, $0.meaning, $0.verdict) } }
}

/// A stage's failure whose code, verdict and catalogue all come from its table of codes.
package protocol CodedFailure: StageFailure {
    associatedtype Code: FailureCode
    var kind: Code { get }
}

extension CodedFailure {
    package var code: String { kind.rawValue }
    package var verdict: Verdict { kind.verdict }
    package static var catalogue: [CodeEntry] { Code.catalogue }
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
