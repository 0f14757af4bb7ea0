internal import CommandLine
internal import Posix
internal import Telemetry
internal import WorkerRuntime

/// What a run came to, as its last words.
struct Summary {
    private let rows: [(name: String, value: String)]

    init(_ figures: WorkerFigures, seconds: Double, renderers: Int) {
        let tally = figures.tally
        rows = [
            ("jobs", "\(tally.jobs)"), ("stored", "\(tally.stored)"), ("reused", "\(tally.reused)"),
            ("unchanged", "\(tally.unchanged)"), ("failed", "\(tally.failed)"), ("expired", "\(tally.expired)"),
            ("cancelled", "\(tally.cancelled)"), ("dead", "\(tally.dead)"), ("fetches", "\(tally.fetches)"),
            ("fetchedBytes", "\(tally.fetchedBytes)"), ("renders", "\(tally.renders)"),
            ("restoredRows", "\(figures.restoredRows)"), ("seconds", Figure.text(seconds, digits: 3)),
            ("peakMemoryBytes", "\(ProcessMemory.of()?.peak ?? 0)"),
            ("rendererPeakMemoryBytes", "\(renderers)"),
        ]
    }

    /// One line, its keys in a fixed order: what scripts rely on.
    var json: String { "{" + rows.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}" }

    var table: String { String(TextTable.text(rows.map { [$0.name, $0.value] }).dropLast()) }
}
