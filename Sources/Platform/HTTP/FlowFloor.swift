internal import Clocks

/// Checks whether a body arrives fast enough, by its bytes in consecutive windows of unpaused time.
///
/// libcurl's own minimum rate counts a pause as slowness as soon as it is over.
struct FlowFloor {
    private let least: Int
    private let window: Duration
    private var began: Instant
    private var bytes = 0

    /// - Parameter now: a time of a clock that stops while the transfer is paused, like all times here.
    init(bytesPerSecond: Int, window: Duration, from now: Instant) {
        least = Int(Double(bytesPerSecond) * window.seconds)
        (self.window, began) = (window, now)
    }

    mutating func took(_ count: Int) { bytes += count }

    /// Returns true if a whole window brought too few bytes; otherwise starts the next window.
    mutating func isBroken(at now: Instant) -> Bool {
        guard now - began >= window else { return false }
        defer { (began, bytes) = (now, 0) }
        return bytes < least
    }
}
