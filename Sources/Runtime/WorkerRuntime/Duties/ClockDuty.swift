internal import Clocks
internal import Ports
internal import Telemetry

/// Duty that warns if this machine's clock jumped, or differs from the brokers'.
struct ClockDuty: Duty {
    private var brokers = LogClock()
    private var isDoubted = false
    private var isSkewReported = false

    /// Notes a record that this program wrote and read back. See `LogClock.note`.
    mutating func note(written: WallTime, appended: WallTime, at now: Moment) {
        brokers.note(written: written, appended: appended, wall: now.wall, monotonic: now.monotonic)
    }

    /// Minimum lead of this machine's clock over the brokers'; nil: not known.
    func skew(at now: Moment) -> Duration? { brokers.skew(wall: now.wall, monotonic: now.monotonic) }

    mutating func tick(_ view: WorkerView) -> [DutyEffect] {
        [doubt(ahead: view.wall - view.now.wall), compare(skew(at: view.now))].compactMap(\.self)
    }

    private mutating func doubt(ahead: Duration) -> DutyEffect? {
        defer { isDoubted = ahead > .zero }
        guard ahead > .zero, !isDoubted else { return nil }
        return .log(
            .warning,
            "The clock of this machine jumped forward. For one minute, jobs and sources expire by the old time; then the new one counts, if it stays.",
            ["seconds": .int(ahead.components.seconds)])
    }

    private mutating func compare(_ skew: Duration?) -> DutyEffect? {
        guard let skew, (skew.magnitude >= LogClock.tolerance) != isSkewReported else { return nil }
        isSkewReported.toggle()
        guard isSkewReported else { return .log(.notice, "The clock of this machine agrees with the brokers' again.") }
        return .log(
            .warning,
            "The clock of this machine is \(LogClock.text(skew)): jobs and sources expire that much too \(skew > .zero ? "early" : "late"). Set the clock (NTP).",
            ["seconds": .int(skew.components.seconds)])
    }
}
