/// Whether a body comes fast enough: its bytes in one window after the other of the time in which it was allowed to come.
///
/// libcurl has a floor of its own, which takes a pause for slowness as soon as it is over.
struct FlowFloor {
    private let least: Int
    private let window: Int64
    private var began: Int64
    private var bytes = 0

    /// - Parameters:
    ///   - window: in nanoseconds.
    ///   - now: on a clock that stands still while the transfer is paused; all times are.
    init(bytesPerSecond: Int, window: Int64, from now: Int64) {
        least = Int(Double(bytesPerSecond) * Double(window) / 1e9)
        (self.window, began) = (window, now)
    }

    mutating func took(_ count: Int) { bytes += count }

    /// True where a whole window has brought too little; else the next one begins with its end.
    mutating func isBroken(at now: Int64) -> Bool {
        guard now - began >= window else { return false }
        defer { (began, bytes) = (now, 0) }
        return bytes < least
    }
}
