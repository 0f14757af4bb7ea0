extension InstantProtocol where Duration == Swift.Duration {
    package static func + (time: Self, duration: Duration) -> Self { time.advanced(by: duration) }
    package static func - (time: Self, duration: Duration) -> Self { time.advanced(by: .zero - duration) }
    package static func += (time: inout Self, duration: Duration) { time = time + duration }
    package static func -= (time: inout Self, duration: Duration) { time = time - duration }
    /// Disfavoured, so that a literal after a minus is a duration.
    @_disfavoredOverload
    package static func - (end: Self, start: Self) -> Duration { start.duration(to: end) }
}
