extension Duration {
    package static func minutes(_ count: some BinaryInteger) -> Duration { .seconds(60) * count }
    package static func hours(_ count: some BinaryInteger) -> Duration { .minutes(60) * count }
    package static func days(_ count: some BinaryInteger) -> Duration { .hours(24) * count }

    /// Whole milliseconds, towards zero, as in records and C interfaces; clamped to the number's range.
    package var milliseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000_000) }
    package var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
    /// Seconds, computed from nanoseconds: for whole milliseconds this is the nearest number, unlike the quotient of
    /// two durations.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// A share of the duration, in whole milliseconds, as records have times.
    package func part(_ share: Double) -> Duration { .milliseconds(Int64(Double(milliseconds) * share)) }

    /// The duration doubled `times` times, and at most `cap`.
    package func doubled(_ times: Int, atMost cap: Duration) -> Duration {
        self < cap / (1 << times) ? self * (1 << times) : cap
    }

    /// The distance between two times, in any order.
    package var magnitude: Duration { max(self, .zero - self) }
}

extension Int64 {
    func saturatingAdding(_ other: Int64) -> Int64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? (other < 0 ? .min : .max) : sum
    }
}
