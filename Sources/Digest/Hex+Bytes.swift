extension Hex {
    /// 16 lower-case digits at the end of `out`.
    package static func append(_ word: UInt64, to out: inout [UInt8]) {
        var shift: UInt64 = 64
        while shift > 0 {
            shift -= 4
            let nibble = UInt8(truncatingIfNeeded: word >> shift) & 15
            out.append(nibble < 10 ? 48 + nibble : 87 + nibble)
        }
    }

    /// The word that 16 digits name, lower or upper case.
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
    /// From 64 digits, lower or upper case.
    package init?(hex digits: UnsafeBufferPointer<UInt8>) {
        guard digits.count == 64 else { return nil }
        func word(_ i: Int) -> UInt64? { Hex.word(UnsafeBufferPointer(rebasing: digits[16 * i..<16 * i + 16])) }
        guard let a = word(0), let b = word(1), let c = word(2), let d = word(3) else { return nil }
        self.init(words: (a, b, c, d))
    }

    /// 64 lower-case digits at the end of `out`.
    package func appendHex(to out: inout [UInt8]) {
        Hex.append(words.0, to: &out)
        Hex.append(words.1, to: &out)
        Hex.append(words.2, to: &out)
        Hex.append(words.3, to: &out)
    }
}
