/// Spelling of URLs in a request line: path and query percent-encoded as in browsers.
///
/// libcurl 7.88.1 escapes only a path's bytes above 0x7F. Origins refuse other bytes: Node 20 responds 400 to a raw
/// `?name=ä`, the JDK's server to `/a|b.png`.
package enum WireURL {
    /// The URL without its fragment, with path and query encoded by the percent-encode sets of the WHATWG URL standard.
    /// In a path, `|` is also escaped, because RFC 3986 requires it. Escapes stay, and so does a `%` that begins none.
    /// A path's backslashes become slashes, and tabs are dropped. Scheme, user and host stay unchanged.
    package static func encoded(_ url: String) -> String {
        let bytes = Array(url.utf8)
        let path = pathStart(of: bytes)
        var (out, isQuery) = (Array(bytes[..<path]), false)
        out.reserveCapacity(bytes.count + 16)
        for byte in bytes[path...].prefix(while: { $0 != UInt8(ascii: "#") }) {
            switch byte {
            case 9, 10, 13: continue
            case UInt8(ascii: "\\") where !isQuery: out.append(UInt8(ascii: "/"))
            case _ where isEscaped(byte, inQuery: isQuery): append(escaped: byte, to: &out)
            default:
                isQuery = isQuery || byte == UInt8(ascii: "?")
                out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Bytes of a `Location` as text. If they are not UTF-8, bytes above 0x7F are escaped one by one, as in Chromium.
    static func text(_ bytes: some Collection<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var out: [UInt8] = []
        for byte in bytes { if byte < 0x80 { out.append(byte) } else { append(escaped: byte, to: &out) } }
        return String(decoding: out, as: UTF8.self)
    }

    /// Position after `scheme://host`, `//host` or `scheme:`; 0 for a relative path.
    private static func pathStart(of bytes: [UInt8]) -> Int {
        let ends: (UInt8) -> Bool = { "/\\?#".utf8.contains($0) }
        let head = bytes.firstIndex { ends($0) || $0 == UInt8(ascii: ":") } ?? bytes.endIndex
        let start = head < bytes.endIndex && bytes[head] == UInt8(ascii: ":") ? head + 1 : 0
        guard bytes[start...].starts(with: "//".utf8) else { return start }
        return bytes[(start + 2)...].firstIndex(where: ends) ?? bytes.endIndex
    }

    private static func isEscaped(_ byte: UInt8, inQuery: Bool) -> Bool {
        guard (0x21...0x7E).contains(byte) else { return true }
        return (inQuery ? "\"<>'" : "\"<>^`{|}").utf8.contains(byte)
    }

    private static func append(escaped byte: UInt8, to out: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}
