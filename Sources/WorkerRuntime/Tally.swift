internal import ImageModel

/// What a run came to: `stored`, `reused`, `unchanged` and `renders` count variants, the others jobs.
package struct Tally: Sendable, Equatable {
    /// Answered with an outcome.
    package var jobs = 0
    package var stored = 0
    package var reused = 0
    package var unchanged = 0
    package var failed = 0
    package var expired = 0
    package var cancelled = 0
    package var dead = 0
    package var fetches = 0
    package var fetchedBytes = 0
    package var renders = 0
    /// Rows that came back from the changelog into indexes.
    package var restoredRows = 0

    package init() {}

    /// What counting needs of an outcome: thousands wait for their acknowledgement, and their rows need not.
    struct Answer: Sendable {
        let kind: OutcomeKind
        let unchanged: Int
        let failed: Failed?

        /// For the line that says so; shared, since few fail and all are counted.
        final class Failed: Sendable {
            let job: String
            let url: String
            let cause: FailureNote
            init(_ outcome: Outcome, _ cause: FailureNote) {
                (job, url, self.cause) = (outcome.job, outcome.url, cause)
            }
        }

        init(_ outcome: Outcome) {
            kind = outcome.kind
            failed = outcome.failure.map { Failed(outcome, $0) }
            // All of them most times, and a look at each costs a copy of its row.
            let variants = outcome.variants
            unchanged = kind == .unchanged ? variants.count : variants.count { $0.kind == .unchanged }
        }
    }

    /// An outcome is in the log.
    mutating func count(_ answer: Answer) {
        jobs += 1
        unchanged += answer.unchanged
        switch answer.kind {
        case .failed: failed += 1
        case .expired: expired += 1
        case .cancelled: cancelled += 1
        case .dead: dead += 1
        case .stored, .reused, .unchanged: break
        }
    }

    /// Variants are in the changelog.
    mutating func count(variants: Int, isReuse: Bool) {
        renders += variants
        if isReuse { reused += variants } else { stored += variants }
    }
}
