/// The clock of the log's brokers, as a program sees it by records that it wrote and read back.
///
/// Brokers stamp each record when they append it. A record is appended after its writer stamped it and before it is read, so
/// a broker's time outside of the two is the least difference of the clocks. Times are milliseconds.
package struct LogClock: Sendable {
    /// How far the brokers' clock is ahead of the monotonic one; nil until a record was read back.
    private var lead: Int64?

    /// Clocks that differ by less are as good as the same.
    package static let tolerance: Int64 = 10_000

    package init() {}

    /// A record that this program wrote was read back.
    ///
    /// - Parameters:
    ///   - written: when, by this machine's clock, since 1970.
    ///   - appended: when, by the brokers' clock.
    ///   - wall: now, by this machine's clock.
    package mutating func note(written: Int64, appended: Int64, wall: Int64, monotonic: Int64) {
        var skew: Int64 = 0
        if appended > wall {
            skew = wall - appended
        } else if appended < written, written <= wall {
            skew = written - appended
        }
        lead = wall - monotonic - skew
    }

    /// How far this machine's clock is ahead of the brokers' at least; below 0: behind. A clock that was set since the last
    /// record counts at once. nil: not known.
    package func skew(wall: Int64, monotonic: Int64) -> Int64? { lead.map { wall - monotonic - $0 } }

    /// `3600 s ahead of the brokers'`.
    package static func text(_ skew: Int64) -> String {
        "\(abs(skew) / 1_000) s \(skew > 0 ? "ahead of" : "behind") the brokers'"
    }
}
