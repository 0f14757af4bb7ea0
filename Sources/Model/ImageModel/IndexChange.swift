package import Canonical
package import VariantSpec

/// One step of the changelog: a row to keep, or one to drop (a tombstone).
package enum IndexChange: Sendable, Hashable {
    case source(SourceRow)
    case variant(VariantRow)
    case dropSource(SourceKey)
    case dropVariant(SourceKey, VariantSpec)

    /// Whose rows it changes.
    package var source: SourceKey {
        switch self {
        case .source(let row): row.source
        case .variant(let row): row.source
        case .dropSource(let source), .dropVariant(let source, _): source
        }
    }
}
