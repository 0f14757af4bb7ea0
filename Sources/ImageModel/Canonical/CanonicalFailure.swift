/// Why a URL or a variant spec has no canonical form: always the producer's mistake, never the weather's.
package enum CanonicalFailure: StageFailure, Hashable {
    /// `excerpt` is fit for a log: shortened, control bytes shown, passwords left out.
    case url(excerpt: String, URLFault)
    case spec(excerpt: String, SpecFault)

    package var code: String {
        switch self {
        case .url(_, let fault): fault.entry.code
        case .spec(_, let fault): fault.entry.code
        }
    }

    package var description: String {
        switch self {
        case .url(let excerpt, let fault): "\(excerpt) is refused: \(fault.sentence)"
        case .spec(let excerpt, let fault): "The variant \(excerpt) is refused: \(fault.sentence)"
        }
    }

    package var verdict: Verdict { .deadLetter }

    package static let catalogue = URLFault.catalogue + SpecFault.catalogue
}

/// Foreign text made fit for a sentence.
package enum Excerpt {
    private static let limit = 160

    static func quote(_ bytes: [UInt8]) -> String {
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

    /// Where the shown part ends: at the limit, or up to three bytes before it, between two characters.
    private static func end(of bytes: [UInt8]) -> Int {
        guard bytes.count > limit else { return bytes.count }
        return (limit - 3...limit).last { bytes[$0] & 0xc0 != 0x80 } ?? limit
    }

    /// A URL without what may be a name and a password: everything before the last `@` of its host.
    ///
    /// A password may hold what ends a host (`http://me:a/b@h`), and a text may be no URL: after a colon that begins no
    /// port the last `@` of all counts.
    package static func url(_ bytes: [UInt8]) -> String {
        let slashes = bytes.indices.dropLast().first { bytes[$0] == Byte.slash && bytes[$0 + 1] == Byte.slash }
        let hasScheme =
            slashes.map { $0 == 0 || bytes[$0 - 1] == Byte.colon && !bytes[..<$0].contains(Byte.at) } ?? false
        let start = hasScheme ? slashes! + 2 : 0
        let end = bytes[start...].firstIndex { Byte.endsAuthority($0) } ?? bytes.count
        let host = bytes[start..<end]
        let isOdd = hasScheme ? !endsInPort(host) : bytes.contains(Byte.colon)
        let at = host.lastIndex(of: Byte.at) ?? (isOdd ? bytes[start...].lastIndex(of: Byte.at) : nil)
        guard let at else { return quote(bytes) }
        return quote(bytes[..<start] + Array("…".utf8) + bytes[at...])
    }

    private static func endsInPort(_ host: ArraySlice<UInt8>) -> Bool {
        guard let colon = host.lastIndex(of: Byte.colon), host.last != Byte.rightBracket else { return true }
        return host[(colon + 1)...].allSatisfy(Byte.isDigit)
    }
}
