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
enum Excerpt {
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

    /// A URL without what may be a password: everything between `//` and the last `@` before the path.
    static func url(_ bytes: [UInt8]) -> String {
        guard
            let slashes = bytes.indices.dropLast().first(where: {
                bytes[$0] == Byte.slash && bytes[$0 + 1] == Byte.slash
            })
        else { return quote(bytes) }
        let start = slashes + 2
        let end = bytes[start...].firstIndex { Byte.endsAuthority($0) } ?? bytes.count
        guard let at = bytes[start..<end].lastIndex(of: Byte.at) else { return quote(bytes) }
        return quote(bytes[..<start] + Array("…".utf8) + bytes[at...])
    }
}
