internal import CCrypto

/// HMAC-SHA256 (RFC 2104) by libcrypto.
package enum HMAC {
    package static func sha256(of message: [UInt8], key: [UInt8]) -> SHA256Digest {
        withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { out in
            let made = message.withUnsafeBufferPointer { message in
                CCrypto.HMAC(
                    EVP_sha256(), key, Int32(key.count), message.baseAddress, message.count,
                    out.bindMemory(to: UInt8.self).baseAddress, nil)
            }
            precondition(made != nil, "libcrypto has no HMAC-SHA256: the installation is broken")
            return SHA256Digest(bytes: UnsafeRawBufferPointer(out))
        }
    }
}

extension SHA256Digest {
    /// Compares like `==`, in a time independent of the common prefix: for secrets that must not be guessed piece by
    /// piece.
    package func equalsInConstantTime(_ other: SHA256Digest) -> Bool {
        withUnsafeBytes(of: words) { own in
            withUnsafeBytes(of: other.words) { CRYPTO_memcmp(own.baseAddress, $0.baseAddress, 32) == 0 }
        }
    }
}
