package import Failures
package import Hosts
package import ImageModel
package import Jobs
package import Ledger
package import Permits
package import Ports
package import Records
package import VariantSpec

/// An event of one partition.
///
/// Large and rare cases are `indirect`, because the others are moved by the hundred thousand.
package enum PartitionEvent: Sendable {
    /// A record was accepted as a job.
    case arrived(PendingJob)
    /// A record that is no job, or is one no more, was accepted. It only gets an outcome.
    indirect case completed(Record, Disposition)
    /// A control was accepted.
    case controlled(Control, Record)
    /// A record was accepted whose job is parked: the row takes its place.
    case parkedBefore(Record)
    /// A job that waited for the index can be looked up.
    case resumed(PendingJob)
    /// Contents of the index for a pending job's source, as the reply to `lookUp`.
    case found(PendingJob, SourceSnapshot)
    /// A permit was granted. `throttledBy`: the host's limit that held the flight back until now.
    case granted(PermitKind, FlightID, throttledBy: HostHold? = nil)
    /// Most of the flight's body has arrived.
    case nearlyFetched(FlightID)
    indirect case fetched(FlightID, FetchedPicture)
    /// The origin confirmed the known version of the flight's source.
    indirect case notModified(FlightID, ResponseHead)
    /// A response redirected to another URL.
    indirect case redirected(FlightID, Redirect)
    /// The variants are rendered and will be stored next.
    case rendered(FlightID)
    /// The results of the flight's task are stored, and in the changelog before `position`. `original` is the location
    /// of the kept source, if it is kept.
    indirect case announced(FlightID, original: String?, rows: [VariantRow], position: Int64)
    /// Blobs are missing or damaged, and were dropped from the index.
    indirect case blobsGone(FlightID, locations: [String])
    /// The kept original was examined for its alpha, and the changelog has the row.
    indirect case looked(FlightID, SourceRow)
    /// These variants cannot be rendered; the others may. `made`: variants of the task that were rendered before, not
    /// stored yet.
    indirect case refusedVariants(FlightID, [VariantSpec], FailureNote, made: [RenderedVariant] = [])
    indirect case failed(FlightID, FailureNote)
    /// The fetch failed, or its body is not an image.
    indirect case unfetched(FlightID, Unfetched)
    /// The flight's host may not be asked now.
    indirect case held(FlightID, PermitScheduler.Hold)
    /// The partition's log did not accept the rows that the flight announced.
    indirect case unannounced(FlightID, FailureNote)
    /// The index holds every row before this changelog position.
    case folded(Int64)
    /// The partition goes to another owner. No flight starts, and outcomes wait for the index no more, because it reads
    /// no further.
    case leaving
    /// The broker acknowledged the outcomes of these records.
    case acknowledged([RecordPlace])
    /// Time has passed.
    case tick
}

extension PartitionEvent {
    /// The flight that the event is about, if any.
    package var flight: FlightID? {
        switch self {
        case .granted(_, let id, _), .nearlyFetched(let id), .fetched(let id, _), .notModified(let id, _), .rendered(let id),
            .announced(let id, _, _, _), .blobsGone(let id, _), .looked(let id, _), .refusedVariants(let id, _, _, _), .failed(let id, _),
            .unannounced(let id, _), .unfetched(let id, _), .redirected(let id, _), .held(let id, _):
            id
        case .arrived, .completed, .controlled, .parkedBefore, .resumed, .found, .folded, .leaving, .acknowledged, .tick: nil
        }
    }
}
