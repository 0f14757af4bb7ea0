/// Milliseconds since 1970 as RFC 3339 writes them: `2026-11-21T10:28:36.007Z`, without Foundation.
package enum Timestamp {
    package static func text(_ milliseconds: Int64) -> String {
        String(decoding: bytes(milliseconds), as: UTF8.self)
    }

    /// Times before year 0 or after 9999 have no such text and are clamped.
    package static func bytes(_ milliseconds: Int64) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(24)
        append(milliseconds, to: &out)
        return out
    }

    static func append(_ milliseconds: Int64, to out: inout [UInt8]) {
        let time = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let day = Int(floorDivide(time, 86_400_000))
        let clock = Int(time - Int64(day) * 86_400_000)
        let (year, month, date) = civil(day)
        digits(year, 4, &out)
        out.append(0x2D)
        digits(month, 2, &out)
        out.append(0x2D)
        digits(date, 2, &out)
        out.append(0x54)
        digits(clock / 3_600_000, 2, &out)
        out.append(0x3A)
        digits(clock / 60_000 % 60, 2, &out)
        out.append(0x3A)
        digits(clock / 1000 % 60, 2, &out)
        out.append(0x2E)
        digits(clock % 1000, 3, &out)
        out.append(0x5A)
    }

    /// The date of a day counted from 1970-01-01, by Hinnant's `civil_from_days`: years begin in March, so that the
    /// leap day is a year's last.
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

    private static func digits(_ value: Int, _ count: Int, _ out: inout [UInt8]) {
        var unit = count == 4 ? 1000 : count == 3 ? 100 : 10
        while unit > 0 {
            out.append(UInt8(0x30 + value / unit % 10))
            unit /= 10
        }
    }
}
