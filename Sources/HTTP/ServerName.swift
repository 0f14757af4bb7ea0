internal import CCurl

/// Whom a URL asks.
package enum ServerName {
    /// Scheme, name and port as libcurl reads them: `https://shop.example:443`. What it cannot read has an empty one.
    package static func of(_ url: String) -> String {
        guard let handle = curl_url() else { return "" }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK,
            let scheme = part(CURLUPART_SCHEME, handle), let port = part(CURLUPART_PORT, handle),
            let host = part(CURLUPART_HOST, handle)
        else { return "" }
        // One name, and one host: with the dot of the root, and without.
        let name = host.lowercased()
        return "\(scheme)://\(name.hasSuffix(".") ? String(name.dropLast()) : name):\(port)"
    }

    private static func part(_ part: CURLUPart, _ handle: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
