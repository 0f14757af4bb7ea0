package import Clocks

/// What `Retry-After` asks for (RFC 9110, 10.2.3): a number of seconds, or a date.
package enum RetryAfter {
    /// No host is left alone for longer.
    package static let longest = Duration.days(1)

    /// The time to wait, at most a day; nil if the value says nothing that can be waited for.
    ///
    /// - Parameter date: the answer's own `Date`: a server whose clock is wrong means the difference between the two.
    package static func wait(_ value: String, date: String?, now: WallTime) -> Duration? {
        let wait: Duration
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than a number has are more than a day, too.
            wait = Int64(value).map { .seconds($0) } ?? longest
        } else if let until = HTTPDate(value, now: now) {
            wait = until.time - (date.flatMap { HTTPDate($0, now: now) }?.time ?? now.wholeSecond)
        } else {
            return nil
        }
        return wait > .zero ? min(wait, longest) : nil
    }
}
