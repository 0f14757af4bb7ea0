internal import Clocks
package import ImageModel
package import Records

/// A retry topic whose records all have the same delay. Reading stops at a head that is not due, so waiting jobs cost
/// no memory.
package enum DelayTier: Sendable, Hashable, CaseIterable {
    case tenSeconds, minute, tenMinutes, hour

    package init?(_ topic: Topic) {
        guard let tier = Self.allCases.first(where: { $0.topic == topic }) else { return nil }
        self = tier
    }

    package var topic: Topic {
        switch self {
        case .tenSeconds: .retry10s
        case .minute: .retry1m
        case .tenMinutes: .retry10m
        case .hour: .retry1h
        }
    }

    package var wait: Duration {
        switch self {
        case .tenSeconds: .seconds(10)
        case .minute: .minutes(1)
        case .tenMinutes: .minutes(10)
        case .hour: .hours(1)
        }
    }

    /// Selects the delay topic with the longest delay within `wait`, or the lane's shortest if none fits. The shortest
    /// of all is for urgent lanes, and for jobs that must not wait longer than `limit`.
    package init(within wait: Duration, _ lane: Lane, atMost limit: Duration? = nil) {
        let isShort = limit.map { $0 < Self.minute.wait } ?? false
        let least = lane.isUrgent || isShort ? Self.tenSeconds : .minute
        let most = max(limit.map { min(wait, $0) } ?? wait, least.wait)
        self = Self.allCases.last { $0.wait <= most } ?? least
    }

    /// Limit below which delays are kept in memory, if there is space.
    package static let shortest = tenSeconds.wait
}
