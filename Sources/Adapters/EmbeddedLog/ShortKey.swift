/// A key of the changelog as new logs keep it, in the table and in its index: its 64 hexadecimal digits in 32 bytes.
///
/// Keys keep their order among those that begin with such digits, and so do prefixes of that length.
enum ShortKey {
    /// Before 32 bytes of digits.
    private static let digits: UInt8 = 0
    /// Before a key that begins with one of these two bytes, as none of ours does.
    private static let other: UInt8 = 1
    private static let count = 64

    static func stored(_ key: [UInt8]) -> [UInt8] {
        guard beginsWithDigits(key) else { return key.first.map { $0 <= other } ?? false ? [other] + key : key }
        return [UInt8](unsafeUninitializedCapacity: 1 + key.count - count / 2) { out, length in
            out[0] = digits
            for place in 0..<count / 2 {
                out[1 + place] = HexByte.value(key[2 * place]) << 4 | HexByte.value(key[2 * place + 1])
            }
            _ = UnsafeMutableBufferPointer(rebasing: out[(1 + count / 2)...]).update(fromContentsOf: key[count...])
            length = 1 + key.count - count / 2
        }
    }

    static func plain(_ stored: [UInt8]) -> [UInt8] {
        guard stored.first == digits, stored.count > count / 2 else {
            return stored.first == other ? Array(stored[1...]) : stored
        }
        return [UInt8](unsafeUninitializedCapacity: stored.count - 1 + count / 2) { out, length in
            for place in 0..<count / 2 {
                (out[2 * place], out[2 * place + 1]) = (
                    HexByte.digit(stored[1 + place] >> 4), HexByte.digit(stored[1 + place] & 15)
                )
            }
            length = stored.count - 1 + count / 2
            _ = UnsafeMutableBufferPointer(rebasing: out[count...]).update(fromContentsOf: stored[(1 + count / 2)...])
        }
    }

    /// What stored keys begin with where the keys begin with `prefix`: others may begin so, too.
    static func prefixes(_ prefix: [UInt8]) -> [[UInt8]] {
        if prefix.isEmpty || beginsWithDigits(prefix) { return [stored(prefix)] }
        return prefix.allSatisfy(HexByte.isDigit) ? [[digits], stored(prefix)] : [stored(prefix)]
    }

    private static func beginsWithDigits(_ key: [UInt8]) -> Bool {
        key.count >= count && key[..<count].allSatisfy(HexByte.isDigit)
    }
}

/// A lower-case hexadecimal digit.
enum HexByte {
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 || byte &- 97 < 6 }
    static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
    /// Of a digit.
    static func value(_ digit: UInt8) -> UInt8 { digit < 58 ? digit &- 48 : digit &- 87 }
}
