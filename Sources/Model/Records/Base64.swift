/// Padded base 64 as in RFC 4648, because this module does not import Foundation.
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func text(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let word = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
            for place in 0..<4 {
                out.append(place <= part.count ? digits[word >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    package static func bytes(_ text: String) -> [UInt8]? {
        let body = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        var (out, word, bits): ([UInt8], Int, Int) = ([], 0, 0)
        for byte in body {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            word = (word << 6 | digit) & 0xffff
            bits += 6
            if bits >= 8 {
                bits -= 8
                out.append(UInt8(truncatingIfNeeded: word >> bits))
            }
        }
        return text.utf8.count % 4 == 0 ? out : nil
    }
}
