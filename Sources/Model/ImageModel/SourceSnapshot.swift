package import Clocks

/// All rows stored for one source: the input of planning.
///
/// Copies share one reference, because rows are large and a snapshot passes through several events and effects. A
/// mutation of a shared snapshot makes its own copy first.
package struct SourceSnapshot: Sendable, Hashable {
    private var kept: Kept

    /// - Concurrency: changed only through the one value that holds it.
    private final class Kept: @unchecked Sendable {
        var source: SourceRow?
        var variants: [VariantRow]
        init(_ source: SourceRow?, _ variants: [VariantRow]) { (self.source, self.variants) = (source, variants) }
    }

    /// Expiry time of rows that count as expired in this snapshot, independent of their expiry in the index. No row of
    /// the index has this value.
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
