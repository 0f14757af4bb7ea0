internal import CommandLine
internal import Posix
internal import Telemetry
internal import WorkerRuntime

/// The result of a run, printed last: all figures as JSON, or a table without zeros.
struct Summary {
    private let rows: [(name: String, value: String)]
    private let lines: [[String]]

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
            ("hidden", "\(status.hidden)"), ("unread", "\(status.unread)"),
            ("restoredRows", "\(status.restoredRows)"), ("seconds", Figure.text(seconds, digits: 3)),
            ("peakMemoryBytes", "\(ProcessMemory.of()?.peak ?? 0)"),
            ("rendererPeakMemoryBytes", "\(renderers)"), ("reusedOriginals", "\(counters.reusedOriginals)"),
        ]
        let shown = rows.filter { $0.name == "jobs" || $0.value != "0" }
        lines = shown.map { name, value in
            switch (name, Int(value)) {
            case ("seconds", _): ["time", "\(value) s"]
            case ("fetchedBytes", let bytes?): ["fetched", Figure.bytes(bytes)]
            case ("peakMemoryBytes", let bytes?): ["peak memory", Figure.bytes(bytes)]
            case ("rendererPeakMemoryBytes", let bytes?): ["renderer peak memory", Figure.bytes(bytes)]
            case ("notModified", _): ["not modified", value]
            case ("reusedOriginals", _): ["reused (kept original)", value]
            case ("restoredRows", _): ["restored rows", value]
            case ("waiting", _): ["pending", value]
            default: [name, value]
            }
        }
    }

    /// One line with its keys in a fixed order, which scripts rely on.
    var json: String { "{" + rows.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}" }

    var table: String { String(TextTable.text(lines).dropLast()) }
}
