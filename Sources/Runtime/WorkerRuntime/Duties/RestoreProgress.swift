package import Clocks
internal import Telemetry

/// Progress of restoring indexes from the changelog. It is empty if no partition is being restored.
package struct RestoreProgress: Duty {
    /// Rows that were restored so far.
    package private(set) var rows = 0
    /// Records to restore: at most, since offsets have gaps.
    package private(set) var expected: Int64 = 0
    private var began: Instant?
    private var loggedAt = Instant.distantPast

    /// Interval between two log lines.
    private static let interval = Duration.seconds(5)

    package init() {}

    /// Adds a partition whose changelog holds this number of records more than its index: at most, since offsets have
    /// gaps.
    package mutating func begin(_ records: Int64, at now: Instant) {
        expected += max(0, records)
        guard began == nil else { return }
        (began, loggedAt) = (now, now)
    }

    package mutating func add(_ count: Int) { rows += count }

    /// Removes records that need not be restored any more, because their partition went first, or its restore begins
    /// again.
    package mutating func leave(_ records: Int64) { expected = max(0, expected - max(0, records)) }

    /// Log line that is due; nil if it is too soon, or nothing has to be restored.
    package mutating func text(at now: Instant) -> String? {
        guard rows > 0, now - loggedAt >= Self.interval else { return nil }
        loggedAt = now
        return "Restoring from the changelog: \(rows) rows of at most \(expected) records in \(pace(now))."
    }

    mutating func tick(_ view: WorkerView) -> [DutyEffect] {
        guard let text = text(at: view.now.monotonic) else { return [] }
        return [
            .log(
                .info, text,
                ["rows": .int(Int64(rows)), "records": .int(expected), "partitionsLeft": .int(Int64(view.restoring))])
        ]
    }

    /// Ends the restore of all partitions; the next one counts from zero. nil if nothing had to be restored.
    package mutating func end(at now: Instant) -> (text: String, rows: Int)? {
        defer { self = RestoreProgress() }
        return rows > 0 ? ("Restored \(rows) rows from the changelog in \(pace(now)).", rows) : nil
    }

    private func pace(_ now: Instant) -> String {
        let milliseconds = max(1, (now - (began ?? now)).milliseconds)
        return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s (\(Int64(rows) * 1000 / milliseconds) a second)"
    }
}
