/// One moment on both clocks.
///
/// Durations are measured by the monotonic clock: the wall clock can be set back by an hour, and a wait would last for
/// that hour. Recorded times, and times from other machines, are compared by the wall clock.
package struct Moment: Sendable, Hashable {
    package let wall: WallTime
    package let monotonic: Instant
    package init(wall: WallTime, monotonic: Instant) { (self.wall, self.monotonic) = (wall, monotonic) }
}
