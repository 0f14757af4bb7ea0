internal import Canonical
internal import ImageModel
internal import Records
internal import VariantSpec

/// One source being worked on now; jobs wait on it until its rows are folded.
struct Flight: Sendable {
    enum Stage: Sendable, Equatable {
        case waiting(PermitKind)
        case fetching
        case rendering
        /// Nothing more to make; answers follow once the index holds every row before this position.
        case folding(Int64)
    }

    let id: FlightID
    let source: SourceKey
    /// As received in the first job: what is fetched.
    let url: String
    /// Whose share of the fetch permits it takes.
    let host: OriginHost
    /// Every one of them is answered when the flight ends.
    var pendingJobs: [PendingJob]
    /// Those that came after the decode: they are looked up anew when the flight is over.
    var late: [PendingJob] = []
    /// The highest among the pending jobs'.
    var lane: Lane
    /// When its oldest job came, milliseconds since 1970.
    var since: Int64
    /// When it got its first permit.
    var started: Int64?
    var stage: Stage
    /// What is stored, kept true with what this flight announced.
    var snapshot: SourceSnapshot
    /// The source as this flight fetched it.
    var fetched: SourceRow?
    var results: [VariantSpec: VariantOutcome] = [:]
    /// After the last row that this flight announced.
    var position: Int64 = 0

    /// What its pending jobs still lack, in the order asked.
    var missing: [VariantSpec] {
        var seen: Set<VariantSpec> = []
        return pendingJobs.flatMap(\.job.variants).filter { results[$0] == nil && seen.insert($0).inserted }
    }

    var traceparent: String? { pendingJobs.lazy.compactMap(\.job.traceparent).first }

    /// Whether a job may still be added: the source has not been decoded for this flight's variants.
    var isOpen: Bool {
        switch stage {
        case .waiting, .fetching: true
        case .rendering, .folding: false
        }
    }
}
