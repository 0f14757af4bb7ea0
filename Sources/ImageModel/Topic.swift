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
    /// Topics whose records a worker takes up and finishes: those with watermarks.
    package static let consumed: [Topic] = [.jobsFast, .jobsSlow, .control, .retry]

    package init(_ lane: Lane) { self = lane == .fast ? .jobsFast : .jobsSlow }
}
