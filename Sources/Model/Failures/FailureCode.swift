/// Codes of one stage, each with its meaning and its effect on the job. A code is written only here.
package protocol FailureCode: RawRepresentable<String>, CaseIterable, Sendable, Hashable {
    /// Explanation on the reference page.
    var meaning: String { get }
    var verdict: Verdict { get }
}

extension FailureCode {
    /// Lines of the reference page.
    package static var catalogue: [CodeEntry] { allCases.map { CodeEntry($0.rawValue, $0.meaning, $0.verdict) } }
}

/// A stage's failure whose code, verdict and catalogue come from its table of codes.
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
