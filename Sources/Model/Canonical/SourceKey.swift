package import Digest

/// Key of a source: SHA-256 of the canonical form's version, the alias group and the canonical URL.
///
/// Two jobs with one key are about one image, belong to one partition, and share one fetch.
package struct SourceKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let digest: SHA256Digest

    package init(_ digest: SHA256Digest) { self.digest = digest }

    /// Parses 64 hexadecimal digits.
    package init?(hex: some StringProtocol) {
        let bytes = Array(hex.utf8)
        guard bytes.count == 64,
            let a = Hex.word(bytes[0..<16]), let b = Hex.word(bytes[16..<32]),
            let c = Hex.word(bytes[32..<48]), let d = Hex.word(bytes[48..<64])
        else { return nil }
        digest = SHA256Digest(words: (a, b, c, d))
    }

    /// Hash of the key. Any eight bytes of a digest are a good hash.
    package var word: UInt64 { digest.words.0 }
    package func hash(into hasher: inout Hasher) { hasher.combine(word) }
    /// Position among all keys, 0..<1.
    package var place: Double { Double(word >> 11) * 0x1p-53 }

    package var hex: String { digest.hex }
    package var description: String { hex }

    package static func < (a: Self, b: Self) -> Bool { a.digest.words < b.digest.words }
}
