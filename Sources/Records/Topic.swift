package import ImageModel

/// A topic of the log; the configured prefix comes before its name on a cluster.
package enum Topic: String, Sendable, Hashable, CaseIterable {
    case jobsFast = "jobs.fast"
    case jobsSlow = "jobs.slow"
    case control
    /// Read until it is empty, and written by older versions alone: its records wait unequally long.
    case retry
    case retry10s = "retry.10s"
    case retry1m = "retry.1m"
    case retry10m = "retry.10m"
    case retry1h = "retry.1h"
    case variants
    case outcomes
    case dead

    /// Only the newest record of a key is kept.
    package var isCompacted: Bool { self == .variants }
    /// Topics whose records a worker takes up and finishes: those with committed offsets.
    package static let consumed: [Topic] = [.jobsFast, .jobsSlow, .control] + retries
    /// Those of them whose records are taken up: what lag, metrics and progress tell of. `control` is not read yet.
    package static let worked: [Topic] = [.jobsFast, .jobsSlow] + retries
    /// Jobs that come again: their records have the headers of `RetryNote`.
    package static let retries: [Topic] = [.retry, .retry10s, .retry1m, .retry10m, .retry1h]

    package var isRetry: Bool { (Topic.retry.ordinal...Topic.retry1h.ordinal).contains(ordinal) }

    /// Dense from 0, for arrays by topic.
    package var ordinal: Int {
        switch self {
        case .jobsFast: 0
        case .jobsSlow: 1
        case .control: 2
        case .retry: 3
        case .retry10s: 4
        case .retry1m: 5
        case .retry10m: 6
        case .retry1h: 7
        case .variants: 8
        case .outcomes: 9
        case .dead: 10
        }
    }

    /// Its name's would be made anew each time.
    package func hash(into hasher: inout Hasher) { hasher.combine(ordinal) }

    package init(_ lane: Lane) { self = lane == .fast ? .jobsFast : .jobsSlow }
}
