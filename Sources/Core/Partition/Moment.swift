/// One moment by both clocks, in milliseconds.
///
/// Durations are measured by the monotonic clock: the wall's can be set back by an hour, and a wait would last for that
/// hour. What is written down, or came from another machine, is compared by the wall's.
package struct Moment: Sendable, Hashable {
    /// Since 1970.
    package let wall: Int64
    package let monotonic: Int64
    package init(wall: Int64, monotonic: Int64) { (self.wall, self.monotonic) = (wall, monotonic) }
}
