extension Duration {
    package static func minutes(_ count: some BinaryInteger) -> Duration { .seconds(60) * count }
    package static func hours(_ count: some BinaryInteger) -> Duration { .minutes(60) * count }
    package static func days(_ count: some BinaryInteger) -> Duration { .hours(24) * count }

    /// Whole ones, towards zero, as records and C's interfaces count; at most what the number holds.
    package var milliseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000_000) }
    package var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
    /// Over nanoseconds: of whole milliseconds it is the nearest number, which the quotient of two durations is not.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// A part of it, in whole milliseconds, as records tell times.
    package func part(_ share: Double) -> Duration { .milliseconds(Int64(Double(milliseconds) * share)) }

    /// Doubled so many times, and no longer than `cap`.
    package func doubled(_ times: Int, atMost cap: Duration) -> Duration {
        self < cap / (1 << times) ? self * (1 << times) : cap
    }

    /// However far apart two times are, whichever is first.
    package var magnitude: Duration { max(self, .zero - self) }
}

extension Int64 {
    func saturatingAdding(_ other: Int64) -> Int64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? (other < 0 ? .min : .max) : sum
    }
}
