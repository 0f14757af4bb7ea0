internal import Canonical
internal import Clocks
internal import Failures
internal import Hosts
internal import ImageModel
internal import Ledger
internal import Permits
internal import Planning
internal import Ports
internal import Records
internal import VariantSpec

/// One source that is being processed. Jobs wait on it until its rows are applied to the index.
struct Flight: Sendable {
    /// Stage of a flight, with the state that only this stage has. A flight without a first permit has fetched nothing,
    /// and a flight that renders has its task.
    ///
    /// queued → fetching → waiting(render) → rendering → announcing → folding. Stored sources need no fetch. The
    /// variants that one task leaves wait for another permit. fetching → redirected → fetching, if another host must be
    /// asked.
    enum Stage: Sendable {
        /// Waits for its first permit.
        case queued(PermitKind)
        /// Waits between two permits.
        case waiting(PermitKind, Course)
        /// Fetches with a permit of this host.
        case fetching(OriginHost, Course)
        /// Waits for a permit of another host that a response redirected to.
        case redirected(OriginHost, Redirect, Course)
        case rendering(RenderTask, Course)
        /// Variants are rendered. They are being stored, and their rows appended.
        case announcing(RenderTask, Course)
        /// Nothing is left to render. Outcomes follow once the index holds every row before this position.
        case folding(Int64, Course)
    }

    /// State of a flight since its first permit.
    struct Course: Sendable {
        /// Time of its first permit, or of the permit for the last host of its fetch.
        var began: Instant
        /// Whether most of the body has arrived. Its jobs are then completed, as after the begin of a render.
        var isNearlyFetched = false
        /// The source as this flight fetched it.
        var fetched: Fetched?
        /// Position after the last row that it announced.
        var position: Int64 = 0
        /// Change of the source's bytes that is not yet reported.
        var change: SourceChange?
        /// Whether the log has the pending refresh for rendering the remaining variants again.
        var hasPendingRefresh = false
    }

    struct Fetched: Sendable {
        let row: SourceRow
        /// nil: the origin confirmed the stored source.
        let picture: FetchedPicture?
    }

    let id: FlightID
    let source: SourceKey
    /// URL as received in the first job, which is fetched.
    let url: SourceURL
    /// Host of the image.
    let host: OriginHost
    /// Host, or host group, whose fetch permits it takes. If a redirect leads elsewhere, the stage has the other host.
    let origin: OriginHost
    /// Host whose share of the memory its jobs take: `origin`, or a host that a redirect led to, now or at an earlier
    /// attempt.
    var share: OriginHost
    /// Jobs that all get an outcome when the flight ends.
    var pendingJobs: [PendingJob]
    /// Jobs that came after the decode. They are looked up again when the flight is over.
    var late: [PendingJob] = []
    /// Highest lane among the pending jobs.
    var lane: Lane
    /// Arrival time of its oldest job.
    var since: WallTime
    var stage: Stage
    /// Stored rows, kept up to date with the rows that this flight announced.
    var snapshot: SourceSnapshot
    var results: [VariantSpec: VariantOutcome] = [:]
    /// Row of the source after the kept original was examined. It decides the formats for jobs that join later.
    var looked: SourceRow?
    /// Last refusal of the source, if the origin is asked whether it still holds.
    var refusal: RecentRefusals.Refusal?
    /// Variants that an earlier owner left to be rendered again.
    var left: SourceChange?
    /// Requests that left the format of a variant open, with the specs that were chosen.
    var chosen: [(asked: [VariantSpec], specs: Set<VariantSpec>)] = []
    /// Whether all jobs have their outcomes and the other stored variants are rendered again.
    var isRemaking = false
    /// Variants that were rendered for a task whose other variants failed, with their source. They are not stored yet.
    var made: (source: RenderSource, variants: [RenderedVariant])?

    /// Variants that its pending jobs still lack, in the order of the requests.
    var missing: [VariantSpec] {
        var seen: Set<VariantSpec> = []
        let wanted = pendingJobs.flatMap(\.job.variants) + (isRemaking ? outdated : [])
        return wanted.filter { results[$0] == nil && seen.insert($0).inserted }
    }

    /// Keeps stored variants that need no render.
    mutating func keep(_ unchanged: [VariantRow]) {
        for row in unchanged { results[row.spec] = VariantOutcome(spec: row.spec, kind: .unchanged, row: row) }
    }

    /// Results of a job's variants. Variants that were not rendered failed by `note`.
    func outcomes(of pending: PendingJob, failing note: FailureNote?) -> VariantOutcomes {
        VariantOutcomes(
            pending.job.variants.map {
                results[$0] ?? VariantOutcome(spec: $0, kind: .failed, row: nil, failure: note)
            })
    }

    /// Stored variants of other bytes than the fetched ones, not rendered again yet.
    var outdatedRows: [VariantRow] {
        guard let version = fetched?.version, hasBody else { return [] }
        return snapshot.variants.filter { $0.version != version && results[$0.spec] == nil }
    }
    var outdated: [VariantSpec] { outdatedRows.map(\.spec) }

    /// Whether the origin must still be asked, even if everything is stored.
    var mustAsk: Bool {
        fetched == nil && (left != nil || pendingJobs.contains { $0.job.freshness == .force })
    }

    /// Whether it waits for a host's permit, so that it can be released without loss.
    var isInQueue: Bool {
        switch stage {
        case .queued(.fetch), .redirected: true
        default: false
        }
    }

    /// Host whose fetch permit it requests.
    var asked: OriginHost { if case .redirected(let host, _, _) = stage { host } else { origin } }

    /// Host that its own host has redirected its jobs to before.
    var behind: OriginHost? {
        if case .queued = stage, share != origin { share } else { nil }
    }

    /// Host and lane whose share of the memory its jobs take. A slow job that joined a fast one counts in the fast
    /// lane.
    var hostLane: HostLane { HostLane(share, lane) }

    /// Number of jobs that it holds there.
    var jobCount: Int { pendingJobs.count + late.count }

    /// Whether each waiting job wants a variant that is not rendered yet.
    var isWantedByAll: Bool { pendingJobs.allSatisfy { $0.job.variants.contains { results[$0] == nil } } }

    /// Redirect at which its fetch continues.
    var redirect: Redirect? { if case .redirected(_, let redirect, _) = stage { redirect } else { nil } }

    /// Earliest time since which one of its retried jobs has had no response of its host; nil: no job was retried. The
    /// worker's own jobs count as retried.
    var failingSince: WallTime? {
        pendingJobs.lazy.filter { $0.attempts > 0 || $0.job.isOwn }.compactMap(\.failingSince).min()
    }

    var traceparent: String? { pendingJobs.lazy.compactMap(\.job.traceparent).first }

    /// nil before the first permit.
    var course: Course? {
        switch stage {
        case .queued: nil
        case .waiting(_, let course), .fetching(_, let course), .redirected(_, _, let course),
            .rendering(_, let course), .announcing(_, let course), .folding(_, let course):
            course
        }
    }

    /// The source as its origin delivered or confirmed it, if it did.
    var fetched: SourceRow? { course?.fetched?.row }

    /// Whether a job may still join: the source has not been decoded for this flight's variants.
    var isOpen: Bool {
        switch stage {
        case .queued, .waiting, .fetching, .redirected: true
        case .rendering, .announcing, .folding: false
        }
    }

    var isFetching: Bool { if case .fetching = stage { true } else { false } }

    /// Whether it fetches, or waits for the host that its fetch was redirected to.
    var isAsking: Bool { isFetching || redirect != nil }

    /// Whether a fetch, or a render with the work after it, runs for the flight.
    var isAtWork: Bool {
        switch stage {
        case .fetching, .rendering, .announcing: true
        case .queued, .waiting, .redirected, .folding: false
        }
    }
}
