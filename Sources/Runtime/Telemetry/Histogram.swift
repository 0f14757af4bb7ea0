/// Durations as Prometheus counts them: in classic buckets, each with an upper bound in seconds.
package struct Histogram: Sendable, Equatable {
    /// Seconds, ascending.
    package let bounds: [Double]
    /// Count of each bucket alone. The last one takes durations above all bounds.
    private var counts: [Int]
    package private(set) var sum = 0.0

    package init(_ bounds: [Double]) {
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count + 1)
    }

    package mutating func observe(_ duration: Duration) { observe(seconds: duration / .seconds(1)) }

    /// Counts a duration. Negative ones, from clocks that went back, count as 0.
    package mutating func observe(seconds: Double) {
        let seconds = max(0, seconds)
        counts[bounds.firstIndex { seconds <= $0 } ?? bounds.count] += 1
        sum += seconds
    }

    package var count: Int { counts.reduce(0, +) }

    /// Number of durations up to each bound, then of all.
    package var cumulative: [Int] {
        var total = 0
        return counts.map {
            total += $0
            return total
        }
    }
}
