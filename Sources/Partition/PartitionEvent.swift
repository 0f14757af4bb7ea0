package import Digest
package import ImageModel
package import Planning

/// A source as it was fetched: all that planning needs of it, without its bytes.
package struct FetchedFacts: Sendable, Hashable {
    package let version: SourceVersion
    package let digest: SHA256Digest
    package let bytes: Int
    package let format: ImageFormat
    package let size: PixelSize
    package let hasAlpha: Bool

    package init(
        version: SourceVersion, digest: SHA256Digest, bytes: Int, format: ImageFormat, size: PixelSize, hasAlpha: Bool
    ) {
        (self.version, self.digest, self.bytes) = (version, digest, bytes)
        (self.format, self.size, self.hasAlpha) = (format, size, hasAlpha)
    }
}

/// What happened to a partition.
package enum PartitionEvent: Sendable {
    /// A record was taken up as a job.
    case arrived(Waiter)
    /// A record was taken up that is no job, or none any more: it is answered and that is all.
    case answered(Record, Settlement)
    /// What the index holds for a waiter's source, in answer to `lookUp`.
    case found(Waiter, SourceSnapshot)
    case granted(PermitKind, FlightID)
    case fetched(FlightID, FetchedFacts)
    /// Pixels are made; storing them goes on.
    case rendered(FlightID)
    /// What a task made is stored, and in the changelog before `position`; `source` with the place of its original.
    case announced(FlightID, RenderTask, source: SourceRow?, rows: [VariantRow], position: Int64)
    /// A donor's blob is gone: it was dropped from the index.
    case donorGone(FlightID, location: String)
    /// One variant cannot be written; the others can.
    case refusedVariant(FlightID, VariantSpec, FailureNote)
    case failed(FlightID, FailureNote)
    /// The index holds every row before this changelog position.
    case folded(Int64)
    /// What was appended for these records is acknowledged.
    case settled([RecordPlace])
    /// Time has passed.
    case tick
}

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

/// What the runtime must do for a partition.
package enum PartitionEffect: Sendable {
    case lookUp(Waiter)
    case request(PermitKind, FlightID, Lane, since: Int64)
    case release(PermitKind, FlightID)
    case move(FlightID, Lane, since: Int64)
    /// The flight ended by this machine's fault, not by its job's.
    case halt(FlightID)
    /// The flight's work is stored and announced.
    case pass(FlightID)
    /// The flight is over: drop its permits and its files.
    case forget(FlightID)
    case fetch(FlightID, url: String, Lane)
    case render(FlightID, RenderTask)
    case settle(Record, Settlement)
    case commit(Topic, Int64)
}
