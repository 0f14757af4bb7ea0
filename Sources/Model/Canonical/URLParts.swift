internal import VariantSpec

/// Byte ranges of the parts of a received URL. Nothing is copied or repaired.
struct URLParts {
    let isHTTPS: Bool
    let scheme: Range<Int>
    /// Host as received, with its brackets.
    let host: Range<Int>
    /// Port after the colon; nil if there is no colon.
    let port: Range<Int>?
    let path: Range<Int>
    /// Query after the `?`; nil if there is no `?`.
    let query: Range<Int>?
    /// End of the URL without its fragment.
    let end: Int

    init(_ bytes: [UInt8], limit: Int) throws(URLFault) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= limit else { throw .tooLong(bytes: bytes.count, limit: limit) }
        var isASCII = true
        for i in bytes.indices {
            let byte = bytes[i]
            if byte <= Byte.space || byte == 0x7f || byte == Byte.backslash { throw .forbiddenByte(byte, at: i + 1) }
            if byte >= 0x80 { isASCII = false }
        }
        guard isASCII || String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8 }

        (scheme, isHTTPS) = try Self.scheme(of: bytes)
        let authority = scheme.upperBound + 3
        var i = authority
        while i < bytes.count, !Byte.endsAuthority(bytes[i]) { i += 1 }
        (host, port) = try Self.hostAndPort(bytes, authority..<i)

        let pathStart = i
        while i < bytes.count, bytes[i] != Byte.question, bytes[i] != Byte.hash { i += 1 }
        path = pathStart..<i
        if i < bytes.count, bytes[i] == Byte.question {
            let queryStart = i + 1
            i = queryStart
            while i < bytes.count, bytes[i] != Byte.hash { i += 1 }
            query = queryStart..<i
        } else {
            query = nil
        }
        end = i
    }

    private static func scheme(of bytes: [UInt8]) throws(URLFault) -> (Range<Int>, isHTTPS: Bool) {
        guard let colon = bytes.prefix(32).firstIndex(of: Byte.colon) else { throw .scheme("") }
        let name = String(decoding: bytes[..<colon].map(Byte.lowered), as: UTF8.self)
        guard name == "http" || name == "https" else {
            let isName =
                Byte.isLower(Byte.lowered(bytes[0])) && name.utf8.allSatisfy { Byte.isLower($0) || Byte.isDigit($0) }
            throw .scheme(isName ? name : "")
        }
        guard bytes.count > colon + 2, bytes[colon + 1] == Byte.slash, bytes[colon + 2] == Byte.slash else {
            throw .scheme("")
        }
        return (0..<colon, name == "https")
    }

    private static func hostAndPort(_ bytes: [UInt8], _ authority: Range<Int>) throws(URLFault) -> (
        Range<Int>, Range<Int>?
    ) {
        guard !bytes[authority].contains(Byte.at) else { throw .userInfo }
        // A colon inside brackets belongs to the address.
        let from = bytes[authority].lastIndex(of: Byte.rightBracket) ?? authority.lowerBound
        guard let colon = bytes[from..<authority.upperBound].firstIndex(of: Byte.colon) else { return (authority, nil) }
        return (authority.lowerBound..<colon, colon + 1..<authority.upperBound)
    }

    /// Port of the canonical URL; nil if it is the scheme's default or was left out.
    func canonicalPort(_ bytes: [UInt8]) throws(URLFault) -> Int? {
        guard let port, !port.isEmpty else { return nil }
        var number = 0
        for byte in bytes[port] {
            guard Byte.isDigit(byte) else {
                // In `http://me:a/b@h` this text is the beginning of a password, which a message must not quote.
                if bytes[port.upperBound...].contains(Byte.at) { throw .userInfo }
                throw .port(Excerpt.quote(Array(bytes[port])))
            }
            number = min(number * 10 + Int(byte - Byte.zero), 65536)
        }
        guard (1...65535).contains(number) else { throw .port(Excerpt.quote(Array(bytes[port]))) }
        return number == (isHTTPS ? 443 : 80) ? nil : number
    }
}
