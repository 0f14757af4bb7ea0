package import ImageModel

/// Topic of the log. On a cluster, the configured prefix precedes its name.
package enum Topic: RawRepresentable, Sendable, Hashable, CaseIterable {
    /// `jobs.fast` and `jobs.slow`: one topic for each lane.
    case jobs(Lane)
    case control
    /// `retry` and `retry.*` are written by earlier versions alone: their jobs are parked.
    case retry
    case retry10s
    case retry1m
    case retry10m
    case retry1h
    case variants
    /// Jobs that wait: one row for each, which its owner deletes once the job is complete; see `ParkedRow`.
    case parked
    case outcomes
    case dead
    /// Reports on hosts, by worker; see `OriginRow`.
    case origins
    /// Changes of sources and variants that no job asked for.
    case events

    package static let jobsFast = Topic.jobs(.fast)
    package static let jobsSlow = Topic.jobs(.slow)
    package static let lanes = Lane.allCases.map(Topic.jobs)
    package static let allCases = lanes + [.control] + retries + [.variants, .parked, .outcomes, .dead, .origins, .events]

    package var rawValue: String { Self.names[ordinal] }

    private static let names = allCases.map(\.name)

    private var name: String {
        switch self {
        case .jobs(let lane): "jobs." + lane.rawValue
        case .control: "control"
        case .retry: "retry"
        case .retry10s: "retry.10s"
        case .retry1m: "retry.1m"
        case .retry10m: "retry.10m"
        case .retry1h: "retry.1h"
        case .variants: "variants"
        case .parked: "parked"
        case .outcomes: "outcomes"
        case .dead: "dead"
        case .origins: "origins"
        case .events: "events"
        }
    }

    package init?(rawValue name: String) {
        guard let place = Self.names.firstIndex(of: name) else { return nil }
        self = Self.allCases[place]
    }

    /// Whether only the newest record of a key is kept.
    package var isCompacted: Bool { isFolded || self == .origins }
    /// Whether the owner of a partition applies the topic to its index, behind an epoch row of its own.
    package var isFolded: Bool { self == .variants || self == .parked }
    package static let folded: [Topic] = [.variants, .parked]
    /// Topics whose records a worker processes and finishes, so that they have committed offsets.
    package static let consumed: [Topic] = lanes + [.control] + retries
    /// Topics whose records are jobs that a worker finishes. A control may change any job that is unfinished there.
    package static let jobTopics: [Topic] = lanes + retries
    /// Topics of retried jobs, whose records have the headers of `RetryNote`.
    package static let retries: [Topic] = [.retry, .retry10s, .retry1m, .retry10m, .retry1h]

    package var isRetry: Bool { (Topic.retry.ordinal...Topic.retry1h.ordinal).contains(ordinal) }

    /// Whether workers process records of the topic as jobs.
    package var hasJobs: Bool { lane != nil || hasNotes }

    /// Whether records of the topic are jobs with the headers of a `RetryNote`.
    package var hasNotes: Bool { isRetry || self == .parked }

    /// Lane of the jobs that producers publish to the topic.
    package var lane: Lane? { if case .jobs(let lane) = self { lane } else { nil } }

    /// Index of the topic, dense from 0 and in the order of `allCases`, for arrays by topic.
    @inlinable
    package var ordinal: Int {
        switch self {
        case .jobs(let lane): lane.ordinal
        case .control: Lane.count
        case .retry: Lane.count + 1
        case .retry10s: Lane.count + 2
        case .retry1m: Lane.count + 3
        case .retry10m: Lane.count + 4
        case .retry1h: Lane.count + 5
        case .variants: Lane.count + 6
        case .parked: Lane.count + 7
        case .outcomes: Lane.count + 8
        case .dead: Lane.count + 9
        case .origins: Lane.count + 10
        case .events: Lane.count + 11
        }
    }

    /// Not compared by raw value, as the default is, because the name would be built each time.
    package static func == (a: Self, b: Self) -> Bool { a.ordinal == b.ordinal }
    package func hash(into hasher: inout Hasher) { hasher.combine(ordinal) }
}
