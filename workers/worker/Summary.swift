internal import CommandLine
internal import Posix
internal import Telemetry
internal import WorkerRuntime

/// What a run came to, as its last words.
struct Summary {
    private let rows: [(name: String, value: String)]

    init(_ status: WorkerStatus, seconds: Double, renderers: Int) {
        let counters = status.counters
        rows = [
            ("jobs", "\(counters.jobs)"), ("stored", "\(counters.stored)"), ("reused", "\(counters.reused)"),
            ("unchanged", "\(counters.unchanged)"), ("failed", "\(counters.failed)"),
            ("expired", "\(counters.expired)"),
            ("cancelled", "\(counters.cancelled)"), ("dead", "\(counters.dead)"),
            ("fetches", "\(counters.fetches)"), ("requests", "\(counters.requests)"),
            ("notModified", "\(counters.notModified)"), ("stale", "\(counters.stale)"),
            ("degraded", "\(counters.degraded)"), ("fetchedBytes", "\(counters.fetchedBytes)"),
            ("renders", "\(counters.renders)"), ("waiting", "\(status.waiting)"),
            ("hidden", "\(status.hidden)"),
            ("restoredRows", "\(status.restoredRows)"), ("seconds", Figure.text(seconds, digits: 3)),
            ("peakMemoryBytes", "\(ProcessMemory.of()?.peak ?? 0)"),
            ("rendererPeakMemoryBytes", "\(renderers)"),
        ]
    }

    /// One line, its keys in a fixed order: what scripts rely on.
    var json: String { "{" + rows.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}" }

    var table: String { String(TextTable.text(rows.map { [$0.name, $0.value] }).dropLast()) }
}
