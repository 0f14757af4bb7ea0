/// Untrusted text made safe to quote in a message.
package enum Excerpt {
    private static let limit = 160

    package static func quote(_ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty else { return "\"\"" }
        var shown: [UInt8] = []
        for byte in bytes[..<end(of: bytes)] {
            if byte < 0x20 || byte == 0x7f {
                shown += "\\x\(Byte.hexText(byte))".utf8
            } else {
                shown.append(byte)
            }
        }
        return String(decoding: shown, as: UTF8.self) + (bytes.count > limit ? "…" : "")
    }

    /// End of the shown part: the limit, or up to three bytes before it, between two characters.
    private static func end(of bytes: [UInt8]) -> Int {
        guard bytes.count > limit else { return bytes.count }
        return (limit - 3...limit).last { bytes[$0] & 0xc0 != 0x80 } ?? limit
    }
}
