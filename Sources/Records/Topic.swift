package import ImageModel

/// A topic of the log; the configured prefix comes before its name on a cluster.
package enum Topic: String, Sendable, Hashable, CaseIterable {
    case jobsFast = "jobs.fast"
    case jobsSlow = "jobs.slow"
    case control
    case retry
    case variants
    case outcomes
    case dead

    /// Only the newest record of a key is kept.
    package var isCompacted: Bool { self == .variants }
    /// Topics whose records a worker takes up and finishes: those with committed offsets.
    package static let consumed: [Topic] = [.jobsFast, .jobsSlow, .control, .retry]
    /// Those of them whose records are taken up: what lag, metrics and progress tell of. `control` is not read yet.
    package static let worked: [Topic] = [.jobsFast, .jobsSlow, .retry]

    /// Dense from 0, for arrays by topic.
    package var ordinal: Int {
        switch self {
        case .jobsFast: 0
        case .jobsSlow: 1
        case .control: 2
        case .retry: 3
        case .variants: 4
        case .outcomes: 5
        case .dead: 6
        }
    }

    /// Its name's would be made anew each time.
    package func hash(into hasher: inout Hasher) { hasher.combine(ordinal) }

    package init(_ lane: Lane) { self = lane == .fast ? .jobsFast : .jobsSlow }
}
