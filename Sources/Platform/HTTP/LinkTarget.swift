internal import CCurl

/// Resolves links in responses.
package enum LinkTarget {
    /// The target that browsers would open for `location` from `base`; `location` itself if the two make no URL. Both
    /// are encoded first: libcurl accepts no spaces, and writes the spaces of a relative query as `+`.
    package static func absolute(_ location: String, from base: String) -> String {
        let (location, base) = (WireURL.encoded(location), WireURL.encoded(base))
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME)
        guard let url = curl_url() else { return location }
        defer { curl_url_cleanup(url) }
        guard curl_url_set(url, CURLUPART_URL, base, flags) == CURLUE_OK,
            curl_url_set(url, CURLUPART_URL, location, flags) == CURLUE_OK
        else { return location }
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK, let text else { return location }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
