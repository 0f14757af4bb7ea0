package import Canonical
package import ImageModel
package import Planning
package import Ports
package import Records
package import VariantSpec

/// Work of a flight with its render permit: one decode, and the rows and events announced with it.
package struct RenderTask: Sendable {
    /// nil: every requested variant is stored already, and the fetch only confirmed it.
    package let batch: RenderBatch?
    /// The source as fetched, with its row, which is announced before the variants. nil if nothing was fetched. Without
    /// an image: the origin confirmed the stored source.
    package let fetched: (row: SourceRow, picture: FetchedPicture?)?
    /// Stored variants of the same bytes that were fetched. They are fresh again without a render.
    package let renewed: [VariantRow]
    /// Stored variants of other bytes of the source that are rendered again.
    package let replaced: [VariantSpec: VariantRow]
    /// Stored variants of the source.
    package let standing: [VariantRow]
    /// Change that is reported with its rows, because it completes the render of all stored variants.
    package let change: SourceChange?
    /// PendingRefresh that is written before its rows if more variants must be rendered again. Otherwise nobody would
    /// do that after a crash of the worker.
    package let pendingRefresh: PendingRefresh?
    package let lane: Lane
    /// Trace of the first of its jobs that has one. Announced records belong to it.
    package let traceparent: String?
    /// Host of the image.
    package let origin: OriginHost
    /// Variants of the batch that an earlier task of the flight has rendered.
    package let made: [RenderedVariant]
    /// Whether a part of an earlier task of the flight missed its deadline.
    package let isLate: Bool

    /// Whether the variants are rendered without a fetch and count as reused.
    package var isReuse: Bool { fetched?.picture == nil }
}
