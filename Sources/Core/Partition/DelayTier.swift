package import ImageModel
package import Records

/// A retry topic whose records all wait equally long: so reading stops at a head that is not due, and jobs that wait cost
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

    /// In milliseconds.
    package var wait: Int64 {
        switch self {
        case .tenSeconds: 10_000
        case .minute: 60_000
        case .tenMinutes: 600_000
        case .hour: 3_600_000
        }
    }

    /// The longest that is not above a wait; the lane's shortest where all are. The shortest of all is for urgent lanes, and
    /// for what must not wait longer than `limit`.
    package init(within wait: Int64, _ lane: Lane, atMost limit: Int64 = .max) {
        let least = lane.isUrgent || limit < Self.minute.wait ? Self.tenSeconds : .minute
        self = Self.allCases.last { $0.wait <= max(min(wait, limit), least.wait) } ?? least
    }

    /// Waits below this are kept in memory where there is room, milliseconds.
    package static let shortest = tenSeconds.wait
}
