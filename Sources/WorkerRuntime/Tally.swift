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
    package var retries = 0
    package var fetches = 0
    package var fetchedBytes = 0
    package var renders = 0

    package init() {}

    /// An outcome is in the log.
    mutating func count(_ outcome: Outcome) {
        jobs += 1
        unchanged += outcome.variants.reduce(0) { $0 + ($1.kind == .unchanged ? 1 : 0) }
        switch outcome.kind {
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
