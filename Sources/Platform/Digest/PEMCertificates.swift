internal import CCrypto

/// PEM certificates in files of authorities, parsed by libcrypto, as libcurl does.
package enum PEMCertificates {
    /// Number of certificates; nil if one of them cannot be read. Such a certificate would fail every connection.
    package static func count(in bytes: [UInt8]) -> Int? {
        guard !bytes.isEmpty else { return 0 }
        return bytes.withUnsafeBytes { bytes in
            guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer {
                BIO_free(source)
                ERR_clear_error()
            }
            var count = 0
            while let certificate = PEM_read_bio_X509(source, nil, nil, nil) {
                X509_free(certificate)
                count += 1
            }
            return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE ? count : nil
        }
    }
}
