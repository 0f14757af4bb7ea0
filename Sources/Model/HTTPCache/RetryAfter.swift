package import Clocks

/// Wait that `Retry-After` asks for (RFC 9110, 10.2.3): a number of seconds, or a date.
package enum RetryAfter {
    /// Longest wait that a header can ask for.
    package static let longest = Duration.days(1)

    /// Time to wait, at most a day; nil if the value gives no time in the future.
    ///
    /// - Parameter date: the response's own `Date`. If it is present, the wait is the difference of the two dates, so
    ///   that a wrong clock of the server does not matter.
    package static func wait(_ value: String, date: String?, now: WallTime) -> Duration? {
        let wait: Duration
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A number that overflows is more than a day, too.
            wait = Int64(value).map { .seconds($0) } ?? longest
        } else if let until = HTTPDate(value, now: now) {
            wait = until.time - (date.flatMap { HTTPDate($0, now: now) }?.time ?? now.wholeSecond)
        } else {
            return nil
        }
        return wait > .zero ? min(wait, longest) : nil
    }
}
