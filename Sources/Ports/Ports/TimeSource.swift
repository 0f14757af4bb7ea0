package import Clocks
internal import Posix

/// The clocks of a worker: points in time that are written down are wall time, durations are monotonic time.
///
/// A port, so that a simulator has clocks of its own.
package protocol TimeSource: Sendable {
    var wall: WallTime { get }
    var monotonic: Instant { get }
    /// Returns after the time, or as soon as the task is cancelled.
    func sleep(for duration: Duration) async
}

/// The machine's own clocks.
package struct SystemTimeSource: TimeSource {
    package init() {}
    package var wall: WallTime { SystemTime.wall }
    package var monotonic: Instant { SystemTime.monotonic }
    package func sleep(for duration: Duration) async { try? await Task.sleep(for: duration) }
}
