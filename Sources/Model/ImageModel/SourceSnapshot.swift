package import Clocks

/// All that is stored for one source: what planning decides upon.
///
/// A copy is a reference, since it goes through several events and effects and rows are large; who changes one that others
/// hold gets a copy of its own.
package struct SourceSnapshot: Sendable, Hashable {
    private var kept: Kept

    /// - Concurrency: changed only by the one value that holds it.
    private final class Kept: @unchecked Sendable {
        var source: SourceRow?
        var variants: [VariantRow]
        init(_ source: SourceRow?, _ variants: [VariantRow]) { (self.source, self.variants) = (source, variants) }
    }

    /// The expiry time of rows that count as expired here, whatever the index says. No row of the index has it.
    package static let takenForExpired = WallTime(milliseconds: -1)

    package init(source: SourceRow? = nil, variants: [VariantRow] = []) { kept = Kept(source, variants) }

    package var source: SourceRow? {
        _read { yield kept.source }
        _modify {
            own()
            yield &kept.source
        }
    }
    package var variants: [VariantRow] {
        _read { yield kept.variants }
        _modify {
            own()
            yield &kept.variants
        }
    }

    private mutating func own() {
        if !isKnownUniquelyReferenced(&kept) { kept = Kept(kept.source, kept.variants) }
    }

    package static func == (a: Self, b: Self) -> Bool {
        a.kept === b.kept || (a.source == b.source && a.variants == b.variants)
    }
    package func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(variants)
    }
}
