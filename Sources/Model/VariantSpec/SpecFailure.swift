internal import Failures

/// Reason why a variant spec has no canonical form: always the producer's mistake.
package struct SpecFailure: CodedFailure, Hashable {
    /// Quoted text for a log line: shortened, with control bytes escaped.
    package let excerpt: String
    package let fault: SpecFault

    package var kind: SpecFault.Code { fault.kind }
    package var description: String { "The variant \(excerpt) is refused: \(fault.sentence)" }
}
