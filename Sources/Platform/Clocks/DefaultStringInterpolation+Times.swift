/// Warns of times in texts without a unit: texts use `milliseconds`, or words for people. Without this warning a time
/// would appear as Swift's description of it, and ids or records would change their form.
extension DefaultStringInterpolation {
    @available(*, deprecated, message: "use its milliseconds, or words for people")
    package mutating func appendInterpolation(_ time: WallTime) { appendInterpolation(time.milliseconds) }
    @available(*, deprecated, message: "use its milliseconds, or words for people")
    package mutating func appendInterpolation(_ time: Instant) { appendInterpolation(time.nanoseconds) }
    @available(*, deprecated, message: "use its milliseconds, or words for people")
    package mutating func appendInterpolation(_ duration: Duration) { appendInterpolation(duration.nanoseconds) }
}
