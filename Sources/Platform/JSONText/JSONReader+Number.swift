extension JSONReader {
    /// A number as in RFC 8259.
    struct RawNumber {
        let start: Int
        let end: Int
        let isInteger: Bool
        let isNegative: Bool
        /// The digits before and after the point as one number, and the power of ten that scales it; valid only while
        /// `digits` is at most 19.
        let significand: UInt64
        let digits: Int
        let scale: Int
    }

    /// A whole number of 64 bits, written without point or exponent.
    ///
    /// - Parameter meaning: the number's unit, for the failure.
    package mutating func integer(_ meaning: String? = nil) throws(JSONFailure) -> Int64 {
        if let plain = plainInteger() { return plain }
        let expected = meaning ?? "a whole number"
        let raw = try scanNumber(expected)
        // 20 digits never fit; 19 may not.
        let value = raw.digits > 19 ? nil : Int64(magnitude: raw.significand, isNegative: raw.isNegative)
        guard raw.isInteger, let value else {
            throw refused(raw.isInteger && meaning == nil ? "a whole number of 64 bits" : expected, from: raw.start)
        }
        return value
    }

    /// Reads up to 18 plain digits, which always fit, as most numbers of records have. nil: it read nothing.
    private mutating func plainInteger() -> Int64? {
        skipSpace()
        var end = position
        var value: Int64 = 0
        while end < bytes.count, isDigit(bytes[end]), end - position < 19 {
            value = value &* 10 &+ Int64(bytes[end] - 0x30)
            end += 1
        }
        let digits = end - position
        guard 1...18 ~= digits, digits == 1 || bytes[position] != 0x30 else { return nil }
        if end < bytes.count, bytes[end] == 0x2E || bytes[end] | 0x20 == 0x65 { return nil }
        position = end
        return value
    }

    /// A whole number from `range`.
    package mutating func integer(in range: ClosedRange<Int>) throws(JSONFailure) -> Int {
        skipSpace()
        let start = position
        let value = try integer()
        guard let value = Int(exactly: value), range.contains(value) else {
            throw refused("a whole number from \(range.lowerBound) to \(range.upperBound)", from: start)
        }
        return value
    }

    /// Reads any finite number, as the nearest double.
    ///
    /// - Parameter expected: meaning of the number, for the failure.
    package mutating func number(_ expected: String = "a number") throws(JSONFailure) -> Double {
        let raw = try scanNumber(expected)
        // Clinger's fast path: both factors are exact, so that one rounding remains.
        if raw.digits <= 15, abs(raw.scale) <= 22 {
            let power = Self.powersOfTen[abs(raw.scale)]
            let significand = Double(raw.significand)
            let value = raw.scale < 0 ? significand / power : significand * power
            return raw.isNegative ? -value : value
        }
        guard let value = Double(String(decoding: slice(raw.start, raw.end), as: UTF8.self)), value.isFinite else {
            throw refused("a number that a double can hold", from: raw.start)
        }
        return value
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// Failure for a number out of range, with the number.
    private mutating func refused(_ expected: String, from start: Int) -> JSONFailure {
        let found = String(decoding: slice(start, min(position, start + 40)), as: UTF8.self)
        position = start
        return .wrongType(field: fieldName, expected: expected, found: found, at: start)
    }

    mutating func scanNumber(_ expected: String) throws(JSONFailure) -> RawNumber {
        skipSpace()
        let start = position
        guard current == 0x2D || isDigit(current) else { throw wrongType(expected) }
        let isNegative = current == 0x2D
        if isNegative { position += 1 }
        var significand: UInt64 = 0
        var digits = 0
        let whole = position
        try scanDigits(into: &significand, &digits)
        guard bytes[whole] != 0x30 || position == whole + 1 else { throw .syntax("a number begins with 0", at: whole) }
        var isInteger = true
        var scale = 0
        if current == 0x2E {
            isInteger = false
            position += 1
            let fraction = position
            try scanDigits(into: &significand, &digits)
            scale = fraction - position
        }
        if current | 0x20 == 0x65 {
            isInteger = false
            position += 1
            let isSmall = current == 0x2D
            if isSmall || current == 0x2B { position += 1 }
            var exponent: UInt64 = 0
            var exponentDigits = 0
            try scanDigits(into: &exponent, &exponentDigits)
            // Far beyond any double; only keeps the sum from overflowing.
            let bounded = exponentDigits > 9 ? 1_000_000_000 : Int(exponent)
            scale += isSmall ? -bounded : bounded
        }
        return RawNumber(
            start: start, end: position, isInteger: isInteger, isNegative: isNegative, significand: significand,
            digits: digits, scale: scale)
    }

    /// Reads at least one digit; leading zeros of the significand do not count.
    private mutating func scanDigits(into value: inout UInt64, _ count: inout Int) throws(JSONFailure) {
        guard isDigit(current) else { throw syntax("expected a digit") }
        while isDigit(current) {
            value = value &* 10 &+ UInt64(current - 0x30)
            if count > 0 || current != 0x30 { count += 1 }
            position += 1
        }
    }

    @inline(__always)
    private func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}

extension Int64 {
    /// A signed number; nil if it does not fit.
    fileprivate init?(magnitude: UInt64, isNegative: Bool) {
        if isNegative {
            guard magnitude <= UInt64(1) << 63 else { return nil }
            self = Int64(truncatingIfNeeded: 0 &- magnitude)
        } else {
            guard let value = Int64(exactly: magnitude) else { return nil }
            self = value
        }
    }
}
