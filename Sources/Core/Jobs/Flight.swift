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

/// One source being worked on now; jobs wait on it until its rows are folded.
struct Flight: Sendable {
    /// Each stage carries what it needs and no other has: a flight that never had a permit was fetched by nobody, and one
    /// that renders has its task.
    ///
    /// queued → fetching → waiting(render) → rendering → announcing → folding; what is stored already needs no fetch, and
    /// what one task leaves over waits for another permit. fetching → redirected → fetching, where another host is to be
    /// asked.
    enum Stage: Sendable {
        /// No permit yet.
        case queued(PermitKind)
        /// Between two permits.
        case waiting(PermitKind, Course)
        /// By a permit of this host.
        case fetching(OriginHost, Course)
        /// An answer led to this other host, and its permit is waited for.
        case redirected(OriginHost, Redirect, Course)
        case rendering(RenderTask, Course)
        /// Pixels are made: they are stored, and their rows appended.
        case announcing(RenderTask, Course)
        /// Nothing more to make: answers follow once the index holds every row before this position.
        case folding(Int64, Course)
    }

    /// What a flight has come to since its first permit.
    struct Course: Sendable {
        /// Its first permit, or that of its fetch's last host.
        var began: Instant
        /// The source as this flight fetched it.
        var fetched: Fetched?
        /// After the last row that it announced.
        var position: Int64 = 0
        /// Where the source has other bytes than were stored, what is to be told of that: not yet told.
        var change: SourceChange?
        /// It is in the log that the rest is to be made anew.
        var isOwed = false
    }

    struct Fetched: Sendable {
        let row: SourceRow
        /// nil: the origin confirmed what is stored.
        let picture: FetchedPicture?
    }

    let id: FlightID
    let source: SourceKey
    /// As received in the first job: what is fetched.
    let url: SourceURL
    /// Whose picture it is.
    let host: OriginHost
    /// Whose share of the fetch permits it takes: its host's, or its host's group's. Where redirects lead elsewhere, the
    /// stage says so.
    let origin: OriginHost
    /// Whose share of the memory its jobs take: of `origin`, or of the host that a redirect led to, now or at an earlier try.
    var share: OriginHost
    /// Every one of them is answered when the flight ends.
    var pendingJobs: [PendingJob]
    /// Those that came after the decode: they are looked up anew when the flight is over.
    var late: [PendingJob] = []
    /// The highest among the pending jobs'.
    var lane: Lane
    /// When its oldest job came.
    var since: WallTime
    var stage: Stage
    /// What is stored, kept true with what this flight announced.
    var snapshot: SourceSnapshot
    var results: [VariantSpec: VariantOutcome] = [:]
    /// The source's row once the kept original was looked at: jobs that join later are chosen formats by it.
    var looked: SourceRow?
    /// Why its source gave nothing the last time, where its origin is asked whether that is still so.
    var refusal: RecentRefusals.Refusal?
    /// What an earlier owner left to be made anew.
    var left: SourceChange?
    /// Moved aside: what they want is made all the same, and they look for it later.
    var aside: [PendingJob] = []
    /// What its jobs asked for that left the format of a variant open, and what became of that.
    var chosen: [(asked: [VariantSpec], specs: Set<VariantSpec>)] = []
    /// What was asked for is answered: what else was stored is made anew.
    var isRemaking = false
    /// Rendered for a task whose other variants failed, and of which source; not stored yet.
    var made: (source: RenderSource, variants: [RenderedVariant])?

    /// What its pending jobs still lack, in the order asked.
    var missing: [VariantSpec] {
        var seen: Set<VariantSpec> = []
        let moved = aside.flatMap(\.job.variants).filter { !$0.isAuto }
        let wanted = pendingJobs.flatMap(\.job.variants) + moved + (isRemaking ? outdated : [])
        return wanted.filter { results[$0] == nil && seen.insert($0).inserted }
    }

    /// Stored variants that need no render.
    mutating func keep(_ unchanged: [VariantRow]) {
        for row in unchanged { results[row.spec] = VariantOutcome(spec: row.spec, kind: .unchanged, row: row) }
    }

    /// What became of a job's variants; those that were not made failed by `note`.
    func outcomes(of pending: PendingJob, failing note: FailureNote?) -> VariantOutcomes {
        VariantOutcomes(
            pending.job.variants.map {
                results[$0] ?? VariantOutcome(spec: $0, kind: .failed, row: nil, failure: note)
            })
    }

    /// What is stored of other bytes than were fetched, and not made anew yet.
    var outdatedRows: [VariantRow] {
        guard let version = fetched?.version, hasBody else { return [] }
        return snapshot.variants.filter { $0.version != version && results[$0.spec] == nil }
    }
    var outdated: [VariantSpec] { outdatedRows.map(\.spec) }

    /// Its origin must still be asked, whatever is stored.
    var mustAsk: Bool {
        fetched == nil && (left != nil || pendingJobs.contains { $0.job.freshness == .force })
    }

    /// It waits for a host's permit, and nothing is lost if that is another's to wait for.
    var isInQueue: Bool {
        switch stage {
        case .queued(.fetch), .redirected: true
        default: false
        }
    }

    /// Whose fetch permit it asks for.
    var asked: OriginHost { if case .redirected(let host, _, _) = stage { host } else { origin } }

    /// Where the host that it asks has led its jobs before.
    var behind: OriginHost? {
        if case .queued = stage, share != origin { share } else { nil }
    }

    /// In whose share of the memory its jobs are: a slow job that joined a fast one is in the fast lane's.
    var hostLane: HostLane { HostLane(share, lane) }

    /// The jobs that it holds there.
    var jobCount: Int { pendingJobs.count + late.count }

    /// Whether each job that waits wants something that is not made yet.
    var isWantedByAll: Bool { pendingJobs.allSatisfy { $0.job.variants.contains { results[$0] == nil } } }

    /// Where its fetch goes on.
    var redirect: Redirect? { if case .redirected(_, let redirect, _) = stage { redirect } else { nil } }

    /// Since when the first of its jobs that were tried before have had no answer of their host; nil: none was. Those of
    /// the worker's own count no tries.
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

    /// The source as its origin gave or confirmed it, if it did.
    var fetched: SourceRow? { course?.fetched?.row }

    /// Whether a job may still be added: the source has not been decoded for this flight's variants.
    var isOpen: Bool {
        switch stage {
        case .queued, .waiting, .fetching, .redirected: true
        case .rendering, .announcing, .folding: false
        }
    }

    /// Whether rows of it may be in the changelog.
    var hasAnnounced: Bool {
        switch stage {
        case .announcing, .folding: true
        case .queued, .waiting, .fetching, .redirected, .rendering: course.map { $0.position > 0 } ?? false
        }
    }

    var isFetching: Bool { if case .fetching = stage { true } else { false } }

    /// Whether it fetches, or waits for the host that its fetch was led to.
    var isAsking: Bool { isFetching || redirect != nil }

    /// Whether a job that was moved aside needs its variants.
    func isAwaitedAside(at now: WallTime) -> Bool { aside.contains { !$0.isExpired(at: now) } }

    /// Whether a fetch, or a render and what follows it, runs for it.
    var isAtWork: Bool {
        switch stage {
        case .fetching, .rendering, .announcing: true
        case .queued, .waiting, .redirected, .folding: false
        }
    }
}
