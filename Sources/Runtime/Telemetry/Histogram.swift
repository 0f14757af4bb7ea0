/// Durations as Prometheus counts them: by classic buckets, each with the most seconds that it takes.
package struct Histogram: Sendable, Equatable {
    /// Seconds, ascending.
    package let bounds: [Double]
    /// Of each bucket alone; the last takes what is longer than all bounds.
    private var counts: [Int]
    package private(set) var sum = 0.0

    package init(_ bounds: [Double]) {
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count + 1)
    }

    package mutating func observe(_ duration: Duration) { observe(seconds: duration / .seconds(1)) }

    /// What clocks that went back would make negative counts as none.
    package mutating func observe(seconds: Double) {
        let seconds = max(0, seconds)
        counts[bounds.firstIndex { seconds <= $0 } ?? bounds.count] += 1
        sum += seconds
    }

    package var count: Int { counts.reduce(0, +) }

    /// How many took at most each bound; then all.
    package var cumulative: [Int] {
        var total = 0
        return counts.map {
            total += $0
            return total
        }
    }
}
