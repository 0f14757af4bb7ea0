internal import CCurl

/// Whom a URL asks, as libcurl reads it.
package struct ServerName: Sendable, Hashable, CustomStringConvertible {
    package let scheme: String
    /// In lower case, an IPv6 address in brackets.
    package let host: String
    package let port: UInt16

    /// nil for what libcurl cannot read.
    package init?(of url: String) {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK,
            let scheme = Self.part(CURLUPART_SCHEME, handle), let host = Self.part(CURLUPART_HOST, handle),
            let port = Self.part(CURLUPART_PORT, handle).flatMap({ UInt16($0) })
        else { return nil }
        // One name, and one host: with the dot of the root, and without.
        let name = host.lowercased()
        self.host = name.hasSuffix(".") ? String(name.dropLast()) : name
        (self.scheme, self.port) = (scheme, port)
    }

    /// `https://shop.example:443`.
    package var description: String { "\(scheme)://\(host):\(port)" }

    private static func part(_ part: CURLUPart, _ handle: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
