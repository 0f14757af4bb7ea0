package import Clocks
internal import Posix

/// Clocks of a worker: wall time for recorded points in time, monotonic time for durations.
///
/// It is a port, so that a simulator can have its own clocks.
package protocol TimeSource: Sendable {
    var wall: WallTime { get }
    var monotonic: Instant { get }
    /// Returns after the duration, or as soon as the task is cancelled.
    func sleep(for duration: Duration) async
}

/// The machine's own clocks.
package struct SystemTimeSource: TimeSource {
    package init() {}
    package var wall: WallTime { SystemTime.wall }
    package var monotonic: Instant { SystemTime.monotonic }
    package func sleep(for duration: Duration) async { try? await Task.sleep(for: duration) }
}
