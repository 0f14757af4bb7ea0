package import Failures
package import ImageModel
package import Records
package import VariantSpec

/// What happened to a partition.
///
/// Large and rare cases are `indirect`: the others are moved by the hundred thousand.
package enum PartitionEvent: Sendable {
    /// A record was taken up as a job.
    case arrived(PendingJob)
    /// A record was taken up that is no job, or none any more: it is answered and that is all.
    indirect case answered(Record, Disposition)
    /// What the index holds for a pending job's source, in answer to `lookUp`.
    case found(PendingJob, SourceSnapshot)
    case granted(PermitKind, FlightID)
    indirect case fetched(FlightID, FetchedFacts)
    /// Pixels are made; storing them goes on.
    case rendered(FlightID)
    /// What a task made is stored, and in the changelog before `position`; `source` with the place of its original.
    indirect case announced(FlightID, RenderTask, source: SourceRow?, rows: [VariantRow], position: Int64)
    /// Blobs are gone or damaged: they were dropped from the index.
    indirect case blobsGone(FlightID, locations: [String])
    /// One variant cannot be written; the others can.
    indirect case refusedVariant(FlightID, VariantSpec, FailureNote)
    indirect case failed(FlightID, FailureNote)
    /// Its partition's log did not take what the flight announced.
    indirect case unannounced(FlightID, FailureNote)
    /// A flight of another partition was stored and announced: this machine does its part.
    case passed
    /// The index holds every row before this changelog position.
    case folded(Int64)
    /// What was appended for these records is acknowledged.
    case settled([RecordPlace])
    /// Time has passed.
    case tick
}
