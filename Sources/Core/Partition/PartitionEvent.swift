package import Failures
package import Hosts
package import ImageModel
package import Jobs
package import Ledger
package import Permits
package import Ports
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
    /// A job that waited for the index can be looked up.
    case resumed(PendingJob)
    /// What the index holds for a pending job's source, in answer to `lookUp`.
    case found(PendingJob, SourceSnapshot)
    /// `heldBy`: what of its host held the flight back until now.
    case granted(PermitKind, FlightID, heldBy: HostHold? = nil)
    indirect case fetched(FlightID, FetchedPicture)
    /// The origin confirmed what is known of the flight's source.
    indirect case notModified(FlightID, AnswerHead)
    /// An answer led elsewhere.
    indirect case redirected(FlightID, Redirect)
    /// Pixels are made; storing them goes on.
    case rendered(FlightID)
    /// What the flight's task made is stored, and in the changelog before `position`; `original` is where the source is
    /// kept, if it is.
    indirect case announced(FlightID, original: String?, rows: [VariantRow], position: Int64)
    /// Blobs are gone or damaged: they were dropped from the index.
    indirect case blobsGone(FlightID, locations: [String])
    /// The kept original was looked at for its alpha, and the changelog has the row.
    indirect case looked(FlightID, SourceRow)
    /// These variants cannot be rendered; the others may. `made` is what was rendered of the task before, not stored yet.
    indirect case refusedVariants(FlightID, [VariantSpec], FailureNote, made: [RenderedVariant] = [])
    indirect case failed(FlightID, FailureNote)
    /// The fetch failed, or its body is not a picture.
    indirect case unfetched(FlightID, Unfetched)
    /// The flight's host may not be asked now.
    indirect case held(FlightID, PermitScheduler.Hold)
    /// Its partition's log did not take what the flight announced.
    indirect case unannounced(FlightID, FailureNote)
    /// The index holds every row before this changelog position.
    case folded(Int64)
    /// The owner goes on in a later epoch, and the index has folded the changelog up to this position: what flights announced
    /// before may count for nothing.
    case fencedAgain(Int64)
    /// The partition goes to another owner: nothing new begins, and answers wait for the index no more, which is not read
    /// any further.
    case leaving
    /// What was appended for these records is acknowledged.
    case acknowledged([RecordPlace])
    /// Time has passed.
    case tick
}

extension PartitionEvent {
    /// The flight that it is about, if it is about one.
    package var flight: FlightID? {
        switch self {
        case .granted(_, let id, _), .fetched(let id, _), .notModified(let id, _), .rendered(let id),
            .announced(let id, _, _, _), .blobsGone(let id, _), .looked(let id, _), .refusedVariants(let id, _, _, _), .failed(let id, _),
            .unannounced(let id, _), .unfetched(let id, _), .redirected(let id, _), .held(let id, _):
            id
        case .arrived, .answered, .resumed, .found, .folded, .fencedAgain, .leaving, .acknowledged, .tick: nil
        }
    }
}
