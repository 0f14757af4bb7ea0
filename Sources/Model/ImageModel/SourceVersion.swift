package import Digest

/// The version of a source: the first 16 hex digits of the SHA-256 of its bytes.
package struct SourceVersion: Hashable, Sendable, CustomStringConvertible {
    package let word: UInt64

    package init(word: UInt64) { self.word = word }
    package init(_ digest: SHA256Digest) { word = digest.words.0 }
    package init?(hex: some StringProtocol) {
        guard let word = Hex.word(Array(hex.utf8)) else { return nil }
        self.word = word
    }

    package var description: String { Hex.text(word) }
}
