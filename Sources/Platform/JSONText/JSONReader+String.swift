extension JSONReader {
    /// A string as written, without its quotes.
    struct RawString {
        let start: Int
        let end: Int
        let isEscaped: Bool
    }

    package mutating func string() throws(JSONFailure) -> String {
        skipSpace()
        guard current == 0x22 else { throw wrongType("a string") }
        let raw = try scanString()
        return raw.isEscaped ? String(decoding: try unescape(raw), as: UTF8.self) : String(decoding: slice(raw.start, raw.end), as: UTF8.self)
    }

    /// Lends a string's bytes to `body`, which parses them further and does not keep them.
    package mutating func withString<Value>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(JSONFailure) -> Value
    ) throws(JSONFailure) -> Value {
        skipSpace()
        guard current == 0x22 else { throw wrongType("a string") }
        let raw = try scanString()
        guard raw.isEscaped else { return try body(slice(raw.start, raw.end)) }
        return try unescape(raw).withUnsafeBufferPointer(body)
    }

    /// Checks and skips a string.
    mutating func checkString() throws(JSONFailure) {
        let raw = try scanString()
        if raw.isEscaped { _ = try unescape(raw) }
    }

    /// Finds the closing quote and checks every byte before it; the position is after the quote.
    mutating func scanString() throws(JSONFailure) -> RawString {
        position += 1
        let start = position
        var isEscaped = false
        var isASCII = true
        while true {
            position += ByteScan.plainPrefix(bytes, from: position, isASCII: &isASCII)
            guard position < bytes.count else { throw .syntax("a string is not closed", at: start - 1) }
            switch bytes[position] {
            case 0x22:
                let raw = RawString(start: start, end: position, isEscaped: isEscaped)
                guard isASCII || isUTF8(slice(start, position)) else { throw .syntax("a string is not UTF-8", at: start - 1) }
                position += 1
                return raw
            case 0x5C:
                isEscaped = true
                // Skips the escaped byte too: it may be a quote. At the end of the text, the check above catches its
                // absence.
                position += 2
            default: throw syntax("a string has a control byte")
            }
        }
    }

    private func isUTF8(_ part: UnsafeBufferPointer<UInt8>) -> Bool {
        (try? UTF8Span(validating: Span(_unsafeElements: part))) != nil
    }

    private func unescape(_ raw: RawString) throws(JSONFailure) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(raw.end - raw.start)
        var i = raw.start
        while i < raw.end {
            guard bytes[i] == 0x5C else {
                out.append(bytes[i])
                i += 1
                continue
            }
            switch bytes[i + 1] {
            case 0x22, 0x5C, 0x2F: out.append(bytes[i + 1])
            case 0x62: out.append(0x08)
            case 0x66: out.append(0x0C)
            case 0x6E: out.append(0x0A)
            case 0x72: out.append(0x0D)
            case 0x74: out.append(0x09)
            case 0x75:
                let scalar = try escapedScalar(at: i, before: raw.end)
                out.append(contentsOf: UTF8.encode(scalar)!)
                i += scalar.value > 0xFFFF ? 12 : 6
                continue
            default: throw .syntax("a backslash is followed by none of \"\\/bfnrtu", at: i)
            }
            i += 2
        }
        return out
    }

    /// The scalar of `\uXXXX`, or of two that form a surrogate pair.
    private func escapedScalar(at start: Int, before end: Int) throws(JSONFailure) -> Unicode.Scalar {
        let first = try escapedUnit(at: start, before: end)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, start + 6 < end, bytes[start + 6] == 0x5C, bytes[start + 7] == 0x75 else {
            throw .syntax("an escape is half of a surrogate pair", at: start)
        }
        let second = try escapedUnit(at: start + 6, before: end)
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + second & 0x3FF)
        else { throw .syntax("an escape is half of a surrogate pair", at: start) }
        return scalar
    }

    private func escapedUnit(at start: Int, before end: Int) throws(JSONFailure) -> UInt32 {
        guard start + 6 <= end else { throw .syntax("\\u needs four hexadecimal digits", at: start) }
        var unit: UInt32 = 0
        for byte in bytes[start + 2..<start + 6] {
            guard let digit = hexDigit(byte) else { throw .syntax("\\u needs four hexadecimal digits", at: start) }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    private func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
