internal import CCrypto

/// A SHA-256 digest: 32 bytes as four big-endian words.
package struct SHA256Digest: Hashable, Sendable {
    package let words: (UInt64, UInt64, UInt64, UInt64)

    package init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    init(bytes: UnsafeRawBufferPointer) {
        func word(_ i: Int) -> UInt64 { UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: i * 8, as: UInt64.self)) }
        words = (word(0), word(1), word(2), word(3))
    }

    package static func == (a: Self, b: Self) -> Bool { a.words == b.words }
    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

    /// Digest as 64 lower-case digits.
    package var hex: String { Hex.text(words.0) + Hex.text(words.1) + Hex.text(words.2) + Hex.text(words.3) }
}

/// SHA-256 by libcrypto, in one call or fed piece by piece.
///
/// - Ownership: one digest context, freed by `deinit`.
/// - Concurrency: one owner at a time.
package final class SHA256: @unchecked Sendable {
    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            preconditionFailure("libcrypto has no SHA-256: the installation is broken")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        _ = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// The digest of the input so far; the hasher then starts over.
    package func finish() -> SHA256Digest {
        withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { out in
            _ = EVP_DigestFinal_ex(context, out.bindMemory(to: UInt8.self).baseAddress, nil)
            _ = EVP_DigestInit_ex(context, EVP_sha256(), nil)
            return SHA256Digest(bytes: UnsafeRawBufferPointer(out))
        }
    }

    package static func digest(of bytes: UnsafeRawBufferPointer) -> SHA256Digest {
        withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { out in
            _ = EVP_Digest(bytes.baseAddress, bytes.count, out.bindMemory(to: UInt8.self).baseAddress, nil, EVP_sha256(), nil)
            return SHA256Digest(bytes: UnsafeRawBufferPointer(out))
        }
    }

    package static func digest(of bytes: [UInt8]) -> SHA256Digest { bytes.withUnsafeBytes { digest(of: $0) } }
}

/// Hexadecimal text of fixed width.
package enum Hex {
    /// Writes a word as 16 lower-case digits.
    package static func text(_ word: UInt64) -> String {
        String(unsafeUninitializedCapacity: 16) { out in
            for i in 0..<16 {
                let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * i)) & 15
                out[i] = nibble < 10 ? 48 + nibble : 87 + nibble
            }
            return 16
        }
    }

    /// Parses the 16 digits of `text` from `offset`; lower or upper case.
    package static func word(_ text: some Collection<UInt8>) -> UInt64? {
        guard text.count == 16 else { return nil }
        var word: UInt64 = 0
        for byte in text {
            switch byte {
            case 48...57: word = word << 4 | UInt64(byte - 48)
            case 97...102: word = word << 4 | UInt64(byte - 87)
            case 65...70: word = word << 4 | UInt64(byte - 55)
            default: return nil
            }
        }
        return word
    }
}
