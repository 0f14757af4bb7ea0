/// Writes whole numbers as text, into memory that the caller reserved.
package enum Decimal {
    /// Writes at most 20 bytes; returns their number.
    package static func write(_ value: Int64, to out: UnsafeMutablePointer<UInt8>) -> Int {
        guard value < 0 || value > 9 else {
            out[0] = UInt8(0x30 + value)
            return 1
        }
        var rest = value.magnitude
        var count = value < 0 ? 2 : 1
        var bound: UInt64 = 10
        while rest >= bound {
            count += 1
            let (next, overflow) = bound.multipliedReportingOverflow(by: 10)
            guard !overflow else { break }
            bound = next
        }
        if value < 0 { out[0] = 0x2D }
        let first = value < 0 ? 1 : 0
        var i = count
        while i > first {
            i -= 1
            let tenth = rest / 10
            out[i] = UInt8(truncatingIfNeeded: 0x30 + rest - 10 * tenth)
            rest = tenth
        }
        return count
    }
}
