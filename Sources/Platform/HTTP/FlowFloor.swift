internal import Clocks

/// Whether a body comes fast enough: its bytes in one window after the other of the time in which it was allowed to come.
///
/// libcurl has a floor of its own, which takes a pause for slowness as soon as it is over.
struct FlowFloor {
    private let least: Int
    private let window: Duration
    private var began: Instant
    private var bytes = 0

    /// - Parameter now: on a clock that stands still while the transfer is paused; all times are.
    init(bytesPerSecond: Int, window: Duration, from now: Instant) {
        least = Int(Double(bytesPerSecond) * window.seconds)
        (self.window, began) = (window, now)
    }

    mutating func took(_ count: Int) { bytes += count }

    /// True where a whole window has brought too little; else the next one begins with its end.
    mutating func isBroken(at now: Instant) -> Bool {
        guard now - began >= window else { return false }
        defer { (began, bytes) = (now, 0) }
        return bytes < least
    }
}
