/// A time in a text needs a unit: texts take `milliseconds`, or words for people. Without these a time would be told as
/// Swift's description of it, and an id or a record would have another form.
extension DefaultStringInterpolation {
    @available(*, deprecated, message: "say which number of it, or in which words")
    package mutating func appendInterpolation(_ time: WallTime) { appendInterpolation(time.milliseconds) }
    @available(*, deprecated, message: "say which number of it, or in which words")
    package mutating func appendInterpolation(_ time: Instant) { appendInterpolation(time.nanoseconds) }
    @available(*, deprecated, message: "say which number of it, or in which words")
    package mutating func appendInterpolation(_ duration: Duration) { appendInterpolation(duration.nanoseconds) }
}
