package import Clocks

/// Clock of the log's brokers, estimated from records that this program wrote and read back.
///
/// Brokers stamp each record when they append it, which is after its writer stamped it and before it is read. If a
/// broker's time lies outside these two, the distance is the least difference between the clocks.
package struct LogClock: Sendable {
    /// Brokers' time at the start of this machine; nil until a record was read back.
    private var start: WallTime?

    /// Difference of clocks below which they count as equal.
    package static let tolerance = Duration.seconds(10)

    package init() {}

    /// Learns from a record that this program wrote and read back.
    ///
    /// - Parameters:
    /// - written: time of writing, by this machine's clock.
    /// - appended: time of the append, by the brokers' clock.
    /// - wall: current time, by this machine's clock.
    package mutating func note(written: WallTime, appended: WallTime, wall: WallTime, monotonic: Instant) {
        var skew = Duration.zero
        if appended > wall {
            skew = wall - appended
        } else if appended < written, written <= wall {
            skew = written - appended
        }
        start = wall - .nanoseconds(monotonic.nanoseconds) - skew
    }

    /// Least time by which this machine's clock is ahead of the brokers'; negative if it is behind. A clock that was
    /// set since the last record counts at once. nil if unknown.
    package func skew(wall: WallTime, monotonic: Instant) -> Duration? {
        start.map { wall - .nanoseconds(monotonic.nanoseconds) - $0 }
    }

    /// Difference in words: `3600 s ahead of the brokers'`.
    package static func text(_ skew: Duration) -> String {
        "\(skew.magnitude.components.seconds) s \(skew > .zero ? "ahead of" : "behind") the brokers'"
    }
}
