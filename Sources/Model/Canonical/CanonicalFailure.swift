package import Failures
package import VariantSpec

/// Reason why a URL or a variant spec has no canonical form: always the producer's mistake, never a temporary
/// condition.
package enum CanonicalFailure: StageFailure, Hashable {
    /// `excerpt` is safe to log: shortened, with control bytes escaped and passwords removed.
    case url(excerpt: String, URLFault)
    case spec(SpecFailure)

    package var code: String {
        switch self {
        case .url(_, let fault): fault.kind.rawValue
        case .spec(let failure): failure.code
        }
    }

    package var description: String {
        switch self {
        case .url(let excerpt, let fault): "\(excerpt) is refused: \(fault.sentence)"
        case .spec(let failure): failure.description
        }
    }

    package var verdict: Verdict { .deadLetter }

    package static let catalogue = URLFault.Code.catalogue + SpecFailure.catalogue
}
