internal import CCurl

/// The server of a URL, as libcurl parses it.
package struct ServerName: Sendable, Hashable, CustomStringConvertible {
    package let scheme: String
    /// Host in lower case; an IPv6 address in brackets.
    package let host: String
    package let port: UInt16

    /// Parses a URL; nil if libcurl cannot.
    package init?(of url: String) {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK,
            let scheme = Self.part(CURLUPART_SCHEME, handle), let host = Self.part(CURLUPART_HOST, handle),
            let port = Self.part(CURLUPART_PORT, handle).flatMap({ UInt16($0) })
        else { return nil }
        // A name with the root's final dot is the same host as the name without it.
        let name = host.lowercased()
        self.host = name.hasSuffix(".") ? String(name.dropLast()) : name
        (self.scheme, self.port) = (scheme, port)
    }

    /// Description such as `https://shop.example:443`.
    package var description: String { "\(scheme)://\(host):\(port)" }

    private static func part(_ part: CURLUPart, _ handle: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
