internal import CCrypto

/// Certificates in PEM, as files of authorities hold them; read by libcrypto, which libcurl reads them by, too.
package enum PEMCertificates {
    /// How many there are; nil if one of them cannot be read. One such certificate would fail every connection.
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
