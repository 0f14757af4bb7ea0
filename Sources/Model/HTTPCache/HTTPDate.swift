package import Clocks

/// Point in time in an HTTP header, in the current format or in one of the two obsolete ones that recipients must
/// accept (RFC 9110, 5.6.7). Any other text is refused, because a wrong guess would make a stale response fresh.
package struct HTTPDate: Sendable, Hashable {
    /// Time in whole seconds.
    package let time: WallTime

    package init(_ time: WallTime) { self.time = time.wholeSecond }

    /// Parses a date. `now` decides the century of a two-digit year: no date lies more than 50 years ahead.
    package init?(_ text: some StringProtocol, now: WallTime) {
        var parts = Parts(text.utf8.map { $0 &- 65 < 26 ? $0 | 32 : $0 })
        guard let seconds = parts.current() ?? parts.old(now.milliseconds / 1_000) ?? parts.oldest() else { return nil }
        time = WallTime(milliseconds: seconds * 1_000)
    }

    /// Parser that tries one format after the other, each from the beginning.
    private struct Parts {
        private let bytes: [UInt8]
        private var place = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// `Sun, 06 Nov 1994 08:49:37 GMT`
        mutating func current() -> Int64? {
            place = 0
            guard word(of: Self.days) != nil, skip(", "), let day = number(2), skip(" "),
                let month = word(of: Self.months),
                skip(" "), let year = number(4), skip(" "), let time = time(), skip(" gmt"), isAtEnd
            else { return nil }
            return Self.seconds(year, month, day, time)
        }

        /// `Sunday, 06-Nov-94 08:49:37 GMT`
        mutating func old(_ now: Int64) -> Int64? {
            place = 0
            guard word(of: Self.longDays) != nil, skip(", "), let day = number(2), skip("-"),
                let month = word(of: Self.months), skip("-"), let short = number(2), skip(" "), let time = time(),
                skip(" gmt"), isAtEnd
            else { return nil }
            let latest = 1970 + now / 31_556_952 + 50
            let year = latest - (latest - short) % 100
            return Self.seconds(year, month, day, time)
        }

        /// `Sun Nov  6 08:49:37 1994`
        mutating func oldest() -> Int64? {
            place = 0
            guard word(of: Self.days) != nil, skip(" "), let month = word(of: Self.months), skip(" "),
                let day = skip(" ") ? number(1) : number(2), skip(" "), let time = time(), skip(" "),
                let year = number(4), isAtEnd
            else { return nil }
            return Self.seconds(year, month, day, time)
        }

        private var isAtEnd: Bool { place == bytes.count }

        private mutating func skip(_ text: StaticString) -> Bool {
            text.withUTF8Buffer { expected in
                guard bytes[place...].starts(with: expected) else { return false }
                place += expected.count
                return true
            }
        }

        private mutating func number(_ digits: Int) -> Int64? {
            guard place + digits <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[place..<place + digits] {
                guard byte &- 48 < 10 else { return nil }
                value = value * 10 + Int64(byte - 48)
            }
            place += digits
            return value
        }

        /// Index of the word that the text continues with, from 0.
        private mutating func word(of words: [String]) -> Int64? {
            guard let index = words.firstIndex(where: { bytes[place...].starts(with: $0.utf8) }) else { return nil }
            place += words[index].utf8.count
            return Int64(index)
        }

        /// Second of the day. A leap second counts as the first second of the next minute.
        private mutating func time() -> Int64? {
            guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
                hour < 24, minute < 60, second <= 60
            else { return nil }
            return (hour * 60 + minute) * 60 + second
        }

        /// Seconds since 1970 by the proleptic Gregorian calendar; `month` counts from 0.
        private static func seconds(_ year: Int64, _ month: Int64, _ day: Int64, _ time: Int64) -> Int64? {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            guard (1...lengths[Int(month)]).contains(day) else { return nil }
            // Years begin in March here, so that a leap day is the last day of its year.
            let shifted = month < 2 ? year - 1 : year
            let era = (shifted < 0 ? shifted - 399 : shifted) / 400
            let ofEra = shifted - era * 400
            let dayOfYear = (153 * ((month + 10) % 12) + 2) / 5 + day - 1
            let days = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + dayOfYear - 719_468
            return days * 86_400 + time
        }

        private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
        private static let longDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
        private static let months = [
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ]
    }
}

extension WallTime {
    /// Start of the second, because HTTP's dates have no fractions.
    var wholeSecond: WallTime { WallTime(milliseconds: milliseconds / 1_000 * 1_000) }
}
