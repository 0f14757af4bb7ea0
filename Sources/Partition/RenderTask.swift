package import ImageModel
package import Planning

/// What a flight does once it may render: one decode, and what is announced with it.
package struct RenderTask: Sendable, Hashable {
    /// nil: everything that was wanted stands already, the fetch only proved it.
    package let batch: Batch?
    /// To announce before the variants: the source was fetched anew.
    package let source: SourceRow?
    /// Stored variants of the very bytes that were fetched: fresh again, without a render.
    package let renewed: [VariantRow]
    package let lane: Lane
    /// Of the first of its jobs that has one: what is announced belongs to its trace.
    package let traceparent: String?

    /// Made without a fetch: counts as reused.
    package var isReuse: Bool { source == nil }
}
