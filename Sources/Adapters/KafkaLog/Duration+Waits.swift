internal import Clocks

extension Duration {
    /// As librdkafka's calls take it: whole milliseconds.
    var kafka: Int32 { Int32(clamping: milliseconds) }
    /// As `usleep` takes it.
    var microseconds: UInt32 { UInt32(clamping: nanoseconds / 1_000) }
}
