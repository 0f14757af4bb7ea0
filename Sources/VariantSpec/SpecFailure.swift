package import Failures

/// Why a variant spec has no canonical form: always the producer's mistake.
package struct SpecFailure: StageFailure, Hashable {
    /// Fit for a log: shortened, control bytes shown.
    package let excerpt: String
    package let fault: SpecFault

    package var code: String { fault.entry.code }
    package var description: String { "The variant \(excerpt) is refused: \(fault.sentence)" }
    package var verdict: Verdict { .deadLetter }
    package static let catalogue = SpecFault.catalogue
}
