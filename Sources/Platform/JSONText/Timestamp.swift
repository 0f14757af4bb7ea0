package import Clocks

/// Converts milliseconds since 1970 to and from RFC 3339 without Foundation: `2026-11-21T10:28:36.007Z`.
package enum Timestamp {
    /// Every text has this many bytes.
    package static let length = 24

    package static func text(_ time: WallTime) -> String {
        String(unsafeUninitializedCapacity: length) { write(time, to: $0.baseAddress!) }
    }

    /// Writes a time. Times before year 0 or after 9999 have no such text and are clamped.
    package static func write(_ time: WallTime, to out: UnsafeMutablePointer<UInt8>) -> Int {
        let time = min(max(time.milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let day = Int(floorDivide(time, 86_400_000))
        let clock = Int(time - Int64(day) * 86_400_000)
        let (year, month, date) = civil(day)
        two(year / 100, out)
        two(year % 100, out + 2)
        out[4] = 0x2D
        two(month, out + 5)
        out[7] = 0x2D
        two(date, out + 8)
        out[10] = 0x54
        two(clock / 3_600_000, out + 11)
        out[13] = 0x3A
        two(clock / 60_000 % 60, out + 14)
        out[16] = 0x3A
        two(clock / 1000 % 60, out + 17)
        out[19] = 0x2E
        out[20] = UInt8(0x30 + clock % 1000 / 100)
        two(clock % 100, out + 21)
        out[23] = 0x5A
        return length
    }

    /// Parses a text of this form; nil for any other.
    package static func time(_ text: UnsafeRawBufferPointer) -> WallTime? {
        guard text.count == length else { return nil }
        func number(_ range: Range<Int>) -> Int { text[range].reduce(0) { $0 * 10 + Int($1) - 48 } }
        // Hinnant's `days_from_civil`.
        let month = number(5..<7)
        let year = number(0..<4) - (month <= 2 ? 1 : 0)
        let era = Int(floorDivide(Int64(year), 400))
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + number(8..<10) - 1
        let day = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        let clock = ((number(11..<13) * 60 + number(14..<16)) * 60 + number(17..<19)) * 1_000 + number(20..<23)
        let time = WallTime(milliseconds: Int64(day * 86_400_000 + clock))
        // Other bytes, and days that do not exist, would be written as another text.
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: length) { again in
            _ = write(time, to: again.baseAddress!)
            return text.elementsEqual(again) ? time : nil
        }
    }

    /// The date of a day counted from 1970-01-01, by Hinnant's `civil_from_days`: years begin in March, so that the
    /// leap day is the last of a year.
    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let z = day + 719_468
        let era = Int(floorDivide(Int64(z), 146_097))
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
    }

    private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 { a / b - (a % b < 0 ? 1 : 0) }

    private static func two(_ value: Int, _ out: UnsafeMutablePointer<UInt8>) {
        out[0] = UInt8(0x30 + value / 10)
        out[1] = UInt8(0x30 + value % 10)
    }
}
