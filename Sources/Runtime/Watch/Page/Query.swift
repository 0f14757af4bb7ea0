/// Values in the query of a URL of lagwatch.
package enum Query {
    /// The first value of this name, as forms encode it; nil if there is none.
    package static func value(_ name: String, in query: String?) -> String? {
        for pair in (query ?? "").split(separator: "&") where pair.hasPrefix(name + "=") {
            return decoded(pair.dropFirst(name.count + 1).utf8)
        }
        return nil
    }

    private static func decoded(_ bytes: Substring.UTF8View) -> String {
        var out: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let digits = Array(rest.prefix(2))
            if byte == UInt8(ascii: "%"), digits.count == 2, let high = nibble(digits[0]), let low = nibble(digits[1]) {
                out.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                out.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static func nibble(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
