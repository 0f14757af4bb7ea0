internal import CPosix

/// The two clocks of an adapter; rules get the time as a value instead.
package enum SystemTime {
    /// Milliseconds since 1970, as records carry them.
    package static var wallMilliseconds: Int64 { mz_wall_ms() }
    /// Nanoseconds of a clock that never goes back.
    package static var monotonicNanoseconds: Int64 { mz_monotonic_ns() }
}
