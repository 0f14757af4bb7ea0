/// All that is stored for one source: what planning decides upon.
///
/// A copy is a reference: it goes through several events and effects, and rows are large.
package struct SourceSnapshot: Sendable, Hashable {
    private var kept: Kept

    private final class Kept: Sendable {
        let source: SourceRow?
        let variants: [VariantRow]
        init(_ source: SourceRow?, _ variants: [VariantRow]) { (self.source, self.variants) = (source, variants) }
    }

    package init(source: SourceRow? = nil, variants: [VariantRow] = []) { kept = Kept(source, variants) }

    package var source: SourceRow? {
        get { kept.source }
        set { kept = Kept(newValue, kept.variants) }
    }
    package var variants: [VariantRow] {
        get { kept.variants }
        set { kept = Kept(kept.source, newValue) }
    }

    /// Whether both are of one look: equal without a look inside.
    package func isSame(as other: Self) -> Bool { kept === other.kept }

    package static func == (a: Self, b: Self) -> Bool {
        a.isSame(as: b) || (a.source == b.source && a.variants == b.variants)
    }
    package func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(variants)
    }
}
