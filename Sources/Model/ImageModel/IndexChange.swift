package import Canonical
package import VariantSpec

/// One step of the changelog: a row to keep, or a row to drop (a tombstone).
package enum IndexChange: Sendable, Hashable {
    case source(SourceRow)
    case variant(VariantRow)
    case dropSource(SourceKey)
    case dropVariant(SourceKey, VariantSpec)

    /// Source whose rows the step changes.
    package var source: SourceKey {
        switch self {
        case .source(let row): row.source
        case .variant(let row): row.source
        case .dropSource(let source), .dropVariant(let source, _): source
        }
    }
}
