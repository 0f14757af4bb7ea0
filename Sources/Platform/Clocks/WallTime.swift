/// A calendar time, as in records and rows: whole milliseconds since 1970-01-01T00:00:00Z.
///
/// A corrected clock jumps either way, and clocks of machines differ: measure elapsed time by `Instant`. Sums are
/// clamped to the ends.
package struct WallTime: InstantProtocol, Sendable {
    /// Milliseconds since 1970.
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// 1970-01-01T00:00:00Z.
    package static let epoch = WallTime(milliseconds: 0)
    package static let distantPast = WallTime(milliseconds: .min)
    package static let distantFuture = WallTime(milliseconds: .max)

    package func advanced(by duration: Duration) -> WallTime {
        WallTime(milliseconds: milliseconds.saturatingAdding(duration.milliseconds))
    }

    package func duration(to other: WallTime) -> Duration {
        .milliseconds(other.milliseconds) - .milliseconds(milliseconds)
    }

    package static func < (a: WallTime, b: WallTime) -> Bool { a.milliseconds < b.milliseconds }
}
