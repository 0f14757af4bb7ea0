internal import VariantSpec

/// Server that a URL is fetched from: scheme, host name and port, in one spelling. It may also be a group of servers
/// that the settings treat as one.
package struct OriginHost: Sendable, Hashable, CustomStringConvertible {
    /// `https://example.org` or `http://example.org:8080`; for a group its name, which has no slash.
    package let description: String

    /// Takes a URL that the canonical rules accepted. Other URLs are never fetched; their common host is empty.
    package init(of url: String) {
        description = (try? Self.text(of: Array(url.utf8))) ?? ""
    }

    package init(group name: String) { description = name }

    /// Host name without scheme and port.
    package var name: Substring.UTF8View {
        let server = (description.split(separator: "//", maxSplits: 1).last ?? "")
        guard let end = server.lastIndex(of: ":"), !server.hasSuffix("]") else { return server.utf8 }
        return server[..<end].utf8
    }

    private static func text(of url: [UInt8]) throws(URLFault) -> String {
        let parts = try URLParts(url, limit: url.count)
        let host = try HostName.canonical(url[parts.host])
        let port = try parts.canonicalPort(url).map { ":\($0)" } ?? ""
        return (parts.isHTTPS ? "https://" : "http://") + String(decoding: host, as: UTF8.self) + port
    }
}

extension SourceURL {
    /// Part of the URL before the path. For a URL that the canonical rules accepted, it determines the origin.
    package var authority: Substring {
        let bytes = fetched.utf8
        guard let slash = bytes.firstIndex(of: Byte.slash),
            let start = bytes.index(slash, offsetBy: 2, limitedBy: bytes.endIndex)
        else { return fetched[...] }
        return fetched[..<(bytes[start...].firstIndex(where: Byte.endsAuthority) ?? bytes.endIndex)]
    }
}
