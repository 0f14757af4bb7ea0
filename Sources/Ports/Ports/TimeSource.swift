internal import Posix

/// The clocks of a worker: points in time that are written down are wall time, durations are monotonic time.
///
/// A port, so that a simulator has clocks of its own.
package protocol TimeSource: Sendable {
    /// Milliseconds since 1970; may jump, either way.
    var wallMilliseconds: Int64 { get }
    /// Nanoseconds of a clock that never goes back.
    var monotonicNanoseconds: Int64 { get }
    /// Returns after the time, or as soon as the task is cancelled.
    func sleep(for duration: Duration) async
}

/// The machine's own clocks.
package struct SystemTimeSource: TimeSource {
    package init() {}
    package var wallMilliseconds: Int64 { SystemTime.wallMilliseconds }
    package var monotonicNanoseconds: Int64 { SystemTime.monotonicNanoseconds }
    package func sleep(for duration: Duration) async { try? await Task.sleep(for: duration) }
}
