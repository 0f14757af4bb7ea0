package import Clocks

/// The clock of the log's brokers, as a program sees it by records that it wrote and read back.
///
/// Brokers stamp each record when they append it. A record is appended after its writer stamped it and before it is read, so
/// a broker's time outside of the two is the least difference of the clocks.
package struct LogClock: Sendable {
    /// The brokers' time when this machine started; nil until a record was read back.
    private var start: WallTime?

    /// Clocks that differ by less are as good as the same.
    package static let tolerance = Duration.seconds(10)

    package init() {}

    /// A record that this program wrote was read back.
    ///
    /// - Parameters:
    ///   - written: when, by this machine's clock.
    ///   - appended: when, by the brokers' clock.
    ///   - wall: now, by this machine's clock.
    package mutating func note(written: WallTime, appended: WallTime, wall: WallTime, monotonic: Instant) {
        var skew = Duration.zero
        if appended > wall {
            skew = wall - appended
        } else if appended < written, written <= wall {
            skew = written - appended
        }
        start = wall - .nanoseconds(monotonic.nanoseconds) - skew
    }

    /// How far this machine's clock is ahead of the brokers' at least; below 0: behind. A clock that was set since the last
    /// record counts at once. nil: not known.
    package func skew(wall: WallTime, monotonic: Instant) -> Duration? {
        start.map { wall - .nanoseconds(monotonic.nanoseconds) - $0 }
    }

    /// `3600 s ahead of the brokers'`.
    package static func text(_ skew: Duration) -> String {
        "\(skew.magnitude.components.seconds) s \(skew > .zero ? "ahead of" : "behind") the brokers'"
    }
}
