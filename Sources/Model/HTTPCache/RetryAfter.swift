/// What `Retry-After` asks for (RFC 9110, 10.2.3): a number of seconds, or a date.
package enum RetryAfter {
    /// No host is left alone for longer, milliseconds.
    package static let longest: Int64 = 86_400_000

    /// Milliseconds to wait, at most a day; nil if the value says nothing that can be waited for.
    ///
    /// - Parameters:
    ///   - date: the answer's own `Date`: a server whose clock is wrong means the difference between the two.
    ///   - now: seconds since 1970.
    package static func wait(_ value: String, date: String?, now: Int64) -> Int64? {
        let seconds: Int64
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than a number has are more than a day, too.
            seconds = Int64(value) ?? .max
        } else if let until = HTTPDate(value, now: now) {
            seconds = until.seconds - (date.flatMap { HTTPDate($0, now: now) }?.seconds ?? now)
        } else {
            return nil
        }
        return seconds > 0 ? min(seconds, longest / 1_000) * 1_000 : nil
    }
}
