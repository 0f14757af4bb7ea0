internal import Synchronization

/// How values are spread: a count for each bucket, and their sum.
package final class Histogram: Sendable {
    /// OpenTelemetry's bounds for durations in seconds.
    package static let seconds: [Double] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
    /// For what a person waits for, or nobody: publish to stored.
    package static let waits: [Double] = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

    struct State {
        /// One for each bound, and one for what is above them all.
        var counts: [Int64]
        var sum = 0.0
    }

    /// Upper bounds, ascending, each within its bucket.
    let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    package func record(_ value: Double) {
        guard !value.isNaN else { return }
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    package func record(_ duration: Duration) { record(duration / .seconds(1)) }

    var snapshot: State { state.withLock { $0 } }
}
