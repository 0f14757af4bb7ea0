package import Canonical
package import Clocks
package import Failures
package import ImageModel
package import VariantSpec

/// Result of a job or of one variant.
package enum OutcomeKind: String, Sendable, Hashable, CaseIterable {
    case stored, reused, unchanged, failed, expired, cancelled, dead, stale, degraded

    /// Whether all requested variants are available.
    package var isSuccess: Bool {
        switch self {
        case .stored, .reused, .unchanged, .stale, .degraded: true
        case .failed, .expired, .cancelled, .dead: false
        }
    }

    /// Whether the job failed. Its requester cancelled a cancelled job on purpose.
    package var isFailure: Bool { !isSuccess && self != .cancelled }

    /// Whether the result is current at the origin, as far as is known.
    package var isFresh: Bool { isSuccess && self != .stale && self != .degraded }

    /// Explanation on the reference page.
    package var meaning: String {
        switch self {
        case .stored: "Every variant is stored; at least one was rendered from a fetch."
        case .reused:
            "Every variant is stored without a fetch; at least one was rendered from a stored donor, or from the kept original (`derivedFrom` is then `origin`, and `keptOriginal` is true)."
        case .unchanged:
            "Every variant was stored already: fresh, confirmed by its origin (a 304, or the same bytes), or usable while it is revalidated (stale-while-revalidate)."
        case .failed: "At least one variant could not be rendered; the code states why."
        case .expired:
            "The job's `expires` passed before its variants were stored. A fetch that ran for this job alone was aborted."
        case .cancelled: "A control cancelled the job before its render began (`mezzotint cancel`). A fetch that ran for this job alone was aborted."
        case .stale:
            "The origin fails, as the code states, and stored variants complete the job, although at least one is stale, or the job required a revalidation (freshness: force)."
        case .degraded:
            "As `stale`, but at least one variant is replaced by the nearest stored one, whose location and true size the outcome states."
        case .dead: "The job is a dead letter: see `mezzotint dead list`."
        }
    }
}

/// Result of one variant of a job.
package struct VariantOutcome: Sendable, Hashable {
    package let spec: VariantSpec
    /// One of `stored`, `reused`, `unchanged`, `failed`, `stale` and `degraded`.
    package let kind: OutcomeKind
    /// Stored row; nil if the variant failed.
    package let row: VariantRow?
    package let failure: FailureNote?

    package init(spec: VariantSpec, kind: OutcomeKind, row: VariantRow?, failure: FailureNote? = nil) {
        (self.spec, self.kind, self.row, self.failure) = (spec, kind, row, failure)
    }
}

/// Result of a job, written as one record that lists its variants.
///
/// Its id is derived from the job's, so that readers can drop an outcome that a crash repeated. A job never has both a
/// success and a failure.
package struct Outcome: Sendable, Hashable {
    package let job: String
    /// nil if the record was not a job. The URL is then empty, unless the record named one that can be read.
    package let source: SourceKey?
    package let url: SourceURL
    package let lane: Lane
    package let kind: OutcomeKind
    package let variants: VariantOutcomes
    /// Number of variants that were left out, because the log would not accept the outcome with them.
    package private(set) var omitted = 0
    package let failure: FailureNote?
    /// Last reason for which the job's host held it back, if it did.
    package var throttledBy: HostHold?
    /// Times that `dead replay` published the job again.
    package var replays = 0
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
    /// The outcome without its variants, for a log that does not accept the whole of it.
    package var withoutVariants: Outcome {
        var outcome = Outcome(
            job: job, source: source, url: url, lane: lane, kind: kind, variants: [], failure: failure,
            attempts: attempts,
            at: at, traceparent: traceparent)
        outcome.omitted = variants.count
        (outcome.throttledBy, outcome.replays) = (throttledBy, replays)
        return outcome
    }
}
