extension Hex {
    /// Writes 16 lower-case digits; returns 16.
    @discardableResult
    package static func write(_ word: UInt64, to out: UnsafeMutablePointer<UInt8>) -> Int {
        store(UInt32(truncatingIfNeeded: word >> 32), UnsafeMutableRawPointer(out))
        store(UInt32(truncatingIfNeeded: word), UnsafeMutableRawPointer(out + 8))
        return 16
    }

    /// Writes eight digits at once: spreads each nibble into a byte, and adds 39 more for those above 9.
    @inline(__always)
    private static func store(_ half: UInt32, _ out: UnsafeMutableRawPointer) {
        var nibbles = UInt64(half)
        nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let text = nibbles &+ 0x3030_3030_3030_3030 &+ letters &* 39
        out.storeBytes(of: text.bigEndian, as: UInt64.self)
    }

    /// Parses 16 digits, lower or upper case.
    package static func word(_ digits: UnsafeBufferPointer<UInt8>) -> UInt64? {
        guard digits.count == 16 else { return nil }
        var word: UInt64 = 0
        for byte in digits {
            let decimal = byte &- 48
            let letter = (byte | 0x20) &- 97
            guard decimal < 10 || letter < 6 else { return nil }
            word = word << 4 | UInt64(decimal < 10 ? decimal : letter + 10)
        }
        return word
    }
}

extension SHA256Digest {
    /// Parses 64 digits, lower or upper case.
    package init?(hex digits: UnsafeBufferPointer<UInt8>) {
        guard digits.count == 64 else { return nil }
        func word(_ i: Int) -> UInt64? { Hex.word(UnsafeBufferPointer(rebasing: digits[16 * i..<16 * i + 16])) }
        guard let a = word(0), let b = word(1), let c = word(2), let d = word(3) else { return nil }
        self.init(words: (a, b, c, d))
    }

    /// Writes 64 lower-case digits; returns 64.
    @discardableResult
    package func writeHex(to out: UnsafeMutablePointer<UInt8>) -> Int {
        Hex.write(words.0, to: out)
        Hex.write(words.1, to: out + 16)
        Hex.write(words.2, to: out + 32)
        Hex.write(words.3, to: out + 48)
        return 64
    }
}
