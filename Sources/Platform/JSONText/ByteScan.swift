/// Searches text eight bytes at a time, by arithmetic on words.
enum ByteScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    /// Number of bytes from `start` that a JSON string contains unescaped: neither quote nor backslash nor control.
    @inline(__always)
    static func plainPrefix(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var isASCII = true
        return plainPrefix(text, from: start, isASCII: &isASCII)
    }

    /// The same; `isASCII` becomes false if any of these bytes is not ASCII.
    @inline(__always)
    static func plainPrefix(_ text: UnsafeBufferPointer<UInt8>, from start: Int, isASCII: inout Bool) -> Int {
        var i = start
        while i + 8 <= text.count {
            let word = UInt64(littleEndian: UnsafeRawPointer(text.baseAddress! + i).loadUnaligned(as: UInt64.self))
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let found =
                ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word) & tops
            if found != 0 {
                let count = found.trailingZeroBitCount / 8
                if count > 0, word & tops & (UInt64.max >> UInt64(64 - 8 * count)) != 0 { isASCII = false }
                return i + count - start
            }
            if word & tops != 0 { isASCII = false }
            i += 8
        }
        while i < text.count {
            let byte = text[i]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C { break }
            if byte >= 0x80 { isASCII = false }
            i += 1
        }
        return i - start
    }
}
