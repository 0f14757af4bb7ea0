package import Clocks
internal import Telemetry

/// How far the indexes of partitions that came are restored from the changelog; nothing where all are.
package struct RestoreProgress: Duty {
    /// Taken in so far.
    package private(set) var rows = 0
    /// To be taken in: at most, since offsets have gaps.
    package private(set) var expected: Int64 = 0
    private var began: Instant?
    private var told = Instant.distantPast

    /// Between two lines.
    private static let interval = Duration.seconds(5)

    package init() {}

    /// A partition came, whose changelog holds so many records more than its index: at most, since offsets have gaps.
    package mutating func begin(_ records: Int64, at now: Instant) {
        expected += max(0, records)
        guard began == nil else { return }
        (began, told) = (now, now)
    }

    package mutating func add(_ count: Int) { rows += count }

    /// A partition went before it was restored, or is restored anew: so many of its records are not waited for any more.
    package mutating func leave(_ records: Int64) { expected = max(0, expected - max(0, records)) }

    /// What to say now; nil if it is too soon, or nothing has to be restored.
    package mutating func text(at now: Instant) -> String? {
        guard rows > 0, now - told >= Self.interval else { return nil }
        told = now
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

    /// Nothing restores any more, and what is restored next begins anew. nil if nothing had to be restored.
    package mutating func end(at now: Instant) -> (text: String, rows: Int)? {
        defer { self = RestoreProgress() }
        return rows > 0 ? ("Restored \(rows) rows from the changelog in \(pace(now)).", rows) : nil
    }

    private func pace(_ now: Instant) -> String {
        let milliseconds = max(1, (now - (began ?? now)).milliseconds)
        return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s (\(Int64(rows) * 1000 / milliseconds) a second)"
    }
}
