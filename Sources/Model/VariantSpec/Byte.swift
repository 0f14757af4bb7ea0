/// Bytes with a meaning in a URL or a spec.
///
/// Inlinable, because canonicalisation looks at every byte of every job.
package enum Byte {
    package static let space = UInt8(ascii: " "), backslash = UInt8(ascii: "\\"), percent = UInt8(ascii: "%")
    package static let slash = UInt8(ascii: "/"), question = UInt8(ascii: "?"), hash = UInt8(ascii: "#")
    package static let colon = UInt8(ascii: ":"), at = UInt8(ascii: "@"), dot = UInt8(ascii: "."), dash = UInt8(ascii: "-")
    package static let ampersand = UInt8(ascii: "&"), equals = UInt8(ascii: "="), pipe = UInt8(ascii: "|")
    package static let underscore = UInt8(ascii: "_"), zero = UInt8(ascii: "0")
    package static let leftBracket = UInt8(ascii: "["), rightBracket = UInt8(ascii: "]")
    package static let x = UInt8(ascii: "x"), y = UInt8(ascii: "y"), z = UInt8(ascii: "z"), q = UInt8(ascii: "q")

    @inlinable package static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }
    @inlinable package static func isUpper(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }
    @inlinable package static func isLower(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }
    @inlinable package static func lowered(_ byte: UInt8) -> UInt8 { isUpper(byte) ? byte | 0x20 : byte }

    /// Whether a byte is in RFC 3986's unreserved set, whose members mean the same escaped or not.
    @inlinable package static func isUnreserved(_ byte: UInt8) -> Bool {
        isLower(byte) || isUpper(byte) || isDigit(byte)
            || byte == dash || byte == dot || byte == underscore || byte == UInt8(ascii: "~")
    }

    /// Whether a byte is neither reserved nor unreserved. RFC 3986 allows such bytes only escaped, though many clients
    /// send them bare.
    @inlinable package static func mustBeEscaped(_ byte: UInt8) -> Bool {
        if byte >= 0x80 { return true }
        return switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "^"), UInt8(ascii: "`"),
            UInt8(ascii: "{"), UInt8(ascii: "}"), pipe:
            true
        default: false
        }
    }

    @inlinable package static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == slash || byte == question || byte == hash
    }

    /// Value of a hexadecimal digit; nil if the byte is none.
    @inlinable package static func nibble(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte &- zero }
        let low = byte | 0x20
        return low &- UInt8(ascii: "a") < 6 ? low &- UInt8(ascii: "a") &+ 10 : nil
    }

    /// Hexadecimal digit of an escape, in upper case.
    @inlinable package static func hexDigit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 48 + nibble : 55 + nibble }
    package static func hexText(_ byte: UInt8) -> String {
        String(decoding: [hexDigit(byte >> 4), hexDigit(byte & 15)], as: UTF8.self)
    }
}
