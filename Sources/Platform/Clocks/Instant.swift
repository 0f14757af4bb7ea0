/// A time of a clock that never goes back: nanoseconds since the machine started. In another process's record it is
/// meaningful only together with the same start of the same machine.
///
/// Sums are clamped to the ends.
package struct Instant: InstantProtocol, Sendable {
    /// Nanoseconds since the machine started.
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    package init(milliseconds: Int64) { self = Instant(nanoseconds: 0) + .milliseconds(milliseconds) }

    package static let distantPast = Instant(nanoseconds: .min)
    package static let distantFuture = Instant(nanoseconds: .max)

    package func advanced(by duration: Duration) -> Instant {
        Instant(nanoseconds: nanoseconds.saturatingAdding(duration.nanoseconds))
    }

    package func duration(to other: Instant) -> Duration {
        .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }

    package static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }
}
