package import ImageModel
package import VariantSpec

/// What to do once a source has been fetched, when its version is known.
package struct FetchedPlan: Sendable, Hashable {
    /// Of this very version and stored already: nothing to render. In the order asked.
    package let unchanged: [VariantRow]
    /// Rows that the fetch proved good for another time, wanted or not: announce them again, their blobs stay as they are.
    package let renewed: [VariantRow]
    /// All the others, from one decode of what was fetched; nil if there are none, and nothing need be decoded.
    package let batch: RenderBatch?

    /// - Parameters:
    ///   - wanted: all variants of all jobs that wait, also those that were counted unchanged before: where the source has
    ///     changed meanwhile, those are made anew.
    ///   - fetched: the new row of the source.
    package init(_ wanted: [VariantSpec], snapshot: SourceSnapshot, fetched: SourceRow) {
        let standing = snapshot.variants.filter { $0.version == fetched.version }.map { row in row.renewed(by: fetched)
        }
        unchanged = wanted.compactMap { spec in standing.first { $0.spec == spec } }
        // Of those that are not fresh either way there is nothing to say. What rows say is not known of those that are only here
        // taken for expired.
        renewed = snapshot.variants.filter {
            $0.version == fetched.version
                && ($0.expires == SourceSnapshot.takenForExpired
                    || max($0.expires, fetched.fetchedAt) != max(fetched.expires, fetched.fetchedAt))
        }.map { row in row.renewed(by: fetched) }
        let missing = wanted.filter { spec in !standing.contains { $0.spec == spec } }
        batch = missing.isEmpty ? nil : RenderBatch(RenderSource(fetched: fetched), missing)
    }
}

extension VariantRow {
    /// A row from a clock that was ahead gets a time that is past, or each job would find it beyond its lifetime again.
    fileprivate func renewed(by fetched: SourceRow) -> VariantRow {
        var row = self
        row.expires = fetched.expires
        row.storedAt = min(row.storedAt, fetched.fetchedAt)
        return row
    }
}
