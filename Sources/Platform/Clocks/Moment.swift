/// One moment by both clocks.
///
/// Durations are measured by the monotonic clock: the wall's can be set back by an hour, and a wait would last for that
/// hour. What is written down, or came from another machine, is compared by the wall's.
package struct Moment: Sendable, Hashable {
    package let wall: WallTime
    package let monotonic: Instant
    package init(wall: WallTime, monotonic: Instant) { (self.wall, self.monotonic) = (wall, monotonic) }
}
