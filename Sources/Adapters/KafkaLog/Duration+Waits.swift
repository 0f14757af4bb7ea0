internal import Clocks

extension Duration {
    /// Whole milliseconds, as librdkafka's calls expect.
    var kafka: Int32 { Int32(clamping: milliseconds) }
    /// Microseconds, as `usleep` expects.
    var microseconds: UInt32 { UInt32(clamping: nanoseconds / 1_000) }
}
