package import Canonical
package import ImageModel
package import Planning
package import Ports
package import Records
package import VariantSpec

/// What a flight does once it may render: one decode, and what is announced with it.
package struct RenderTask: Sendable {
    /// nil: everything that was wanted stands already, the fetch only proved it.
    package let batch: RenderBatch?
    /// The source as it was fetched, and its row, to announce before the variants; nil where nothing was asked for. No
    /// picture: its origin confirmed what is stored.
    package let fetched: (row: SourceRow, picture: FetchedPicture?)?
    /// Stored variants of the very bytes that were fetched: fresh again, without a render.
    package let renewed: [VariantRow]
    /// Stored variants of other bytes of the source that are made anew.
    package let replaced: [VariantSpec: VariantRow]
    /// What is stored already.
    package let standing: [VariantRow]
    /// Told with its rows: then all that was stored is made anew.
    package let change: SourceChange?
    /// Written before its rows, where more is to be made anew: else nobody would do that after a worker's death.
    package let debt: Debt?
    package let lane: Lane
    /// Of the first of its jobs that has one: what is announced belongs to its trace.
    package let traceparent: String?
    /// Whose picture it is.
    package let origin: OriginHost
    /// What an earlier task of the flight rendered of the batch already.
    package let made: [RenderedVariant]
    /// Whether a part of an earlier task of the flight passed its deadline.
    package let isLate: Bool

    /// Made without a fetch: counts as reused.
    package var isReuse: Bool { fetched?.picture == nil }
}
