package import Canonical
package import Clocks
package import Failures
package import ImageModel
package import VariantSpec

/// What became of a job.
package enum OutcomeKind: String, Sendable, Hashable, CaseIterable {
    case stored, reused, unchanged, failed, expired, cancelled, dead, stale, degraded

    /// Whether all that was asked for is there.
    package var isSuccess: Bool {
        switch self {
        case .stored, .reused, .unchanged, .stale, .degraded: true
        case .failed, .expired, .cancelled, .dead: false
        }
    }

    /// Whether that is what its origin has now, as far as is known.
    package var isFresh: Bool { isSuccess && self != .stale && self != .degraded }

    /// For the reference page.
    package var meaning: String {
        switch self {
        case .stored: "Every variant is stored; at least one was made from a fetch."
        case .reused:
            "Every variant is stored without a fetch; at least one was made from a stored donor, or from the kept original (`madeFrom` is `origin` and `keptOriginal` true then)."
        case .unchanged:
            "Every variant was stored already: fresh, confirmed by its origin (a 304, or the same bytes), or such as may stand in while that is asked again (stale-while-revalidate)."
        case .failed: "At least one variant could not be made; the code says why."
        case .expired:
            "The job's `expires` passed before its variants were stored. A fetch that ran for this job alone was aborted."
        case .cancelled: "Whoever wanted it took it back. Kept for later: no worker takes a job back yet."
        case .stale:
            "Its origin fails, as the code says, and what is stored answers, though at least one variant is fresh no longer, or the job wanted its origin asked (freshness: force)."
        case .degraded:
            "The same, and for at least one variant the nearest one that is stored answers: its location and its true size are told."
        case .dead: "The job is set aside: see `mezzotint dead list`."
        }
    }
}

/// What became of one variant of a job.
package struct VariantOutcome: Sendable, Hashable {
    package let spec: VariantSpec
    /// `stored`, `reused`, `unchanged`, `failed`, `stale` or `degraded`.
    package let kind: OutcomeKind
    /// The stored row, unless failed.
    package let row: VariantRow?
    package let failure: FailureNote?

    package init(spec: VariantSpec, kind: OutcomeKind, row: VariantRow?, failure: FailureNote? = nil) {
        (self.spec, self.kind, self.row, self.failure) = (spec, kind, row, failure)
    }
}

/// One record for each job listing its variants.
///
/// Its id is made from the job's, so a crash may repeat it and readers drop repeats; a job never has both a success
/// and a failure.
package struct Outcome: Sendable, Hashable {
    package let job: String
    /// nil where the record was no job; the URL is then empty, unless the record named one that can be read.
    package let source: SourceKey?
    package let url: SourceURL
    package let lane: Lane
    package let kind: OutcomeKind
    package let variants: VariantOutcomes
    /// Variants that are left out: with them the log would not take the outcome.
    package private(set) var omitted = 0
    package let failure: FailureNote?
    /// What of its host held the job back last, if that did.
    package var heldBy: HostHold?
    /// Attempts made before this one.
    package let attempts: Int
    package let at: WallTime
    package let traceparent: String?

    package init(
        job: String, source: SourceKey?, url: SourceURL, lane: Lane, kind: OutcomeKind, variants: VariantOutcomes,
        failure: FailureNote? = nil, attempts: Int = 0, at: WallTime, traceparent: String? = nil
    ) {
        (self.job, self.source, self.url, self.lane, self.kind) = (job, source, url, lane, kind)
        (self.variants, self.failure, self.attempts, self.at) = (variants, failure, attempts, at)
        self.traceparent = traceparent
    }
    /// What is left to say where the log takes no more.
    package var withoutVariants: Outcome {
        var outcome = Outcome(
            job: job, source: source, url: url, lane: lane, kind: kind, variants: [], failure: failure,
            attempts: attempts,
            at: at, traceparent: traceparent)
        outcome.omitted = variants.count
        outcome.heldBy = heldBy
        return outcome
    }
}
