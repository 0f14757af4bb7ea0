internal import Failures

/// Why a variant spec has no canonical form: always the producer's mistake.
package struct SpecFailure: CodedFailure, Hashable {
    /// Fit for a log: shortened, control bytes shown.
    package let excerpt: String
    package let fault: SpecFault

    package var kind: SpecFault.Code { fault.kind }
    package var description: String { "The variant \(excerpt) is refused: \(fault.sentence)" }
}
