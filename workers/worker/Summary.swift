internal import Foundation
internal import Posix
internal import WorkerRuntime

/// What a run came to, as its last words.
struct Summary {
    private let rows: [(name: String, value: String)]

    init(_ tally: Tally, seconds: Double, renderers: Int) {
        rows = [
            ("jobs", "\(tally.jobs)"), ("stored", "\(tally.stored)"), ("reused", "\(tally.reused)"),
            ("unchanged", "\(tally.unchanged)"), ("failed", "\(tally.failed)"), ("expired", "\(tally.expired)"),
            ("cancelled", "\(tally.cancelled)"), ("dead", "\(tally.dead)"), ("fetches", "\(tally.fetches)"),
            ("fetchedBytes", "\(tally.fetchedBytes)"), ("renders", "\(tally.renders)"),
            ("seconds", String(format: "%.3f", seconds)), ("peakMemoryBytes", "\(ProcessMemory.of()?.peak ?? 0)"),
            ("rendererPeakMemoryBytes", "\(renderers)"),
        ]
    }

    /// One line, its keys in a fixed order: what scripts rely on.
    var json: String { "{" + rows.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}" }

    var table: String {
        let width = rows.map(\.name.count).max() ?? 0
        return rows.map { "\($0.name.padding(toLength: width, withPad: " ", startingAt: 0))  \($0.value)" }
            .joined(separator: "\n")
    }
}
