internal import VariantSpec

/// Hosts that serve the same images under the same paths.
///
/// Only listed hosts are merged. The host is never dropped from a key, because otherwise `/a.jpg` of unrelated hosts
/// would be one source.
package struct HostAliasGroup: Sendable, Hashable {
    /// Name of the group. Part of the source key: a renamed group gives its sources new keys.
    package let id: String
    /// Hosts in canonical form: `host`, or `host:port` if the port is not the scheme's default. The first replaces the
    /// others in canonical URLs.
    package let hosts: [String]
    /// Whether http and https URLs are merged; the canonical URL then has https.
    package let mergesSchemes: Bool
    package let volatileParameters: [String]
    /// Dialects that are read on these hosts; nil: the rules' own dialects.
    package let dialects: Set<URLDialect>?

    let orderedDialects: [URLDialect]?
    let authorities: [[UInt8]]
    let volatileNames: Set<[UInt8]>

    /// - Failure: a host that no URL can have, or a host with port 80 or 443 (write it without the port).
    package init(
        id: String, hosts: [String], mergesSchemes: Bool = false, volatileParameters: [String] = [],
        dialects: Set<URLDialect>? = nil
    ) throws(CanonicalFailure) {
        var authorities: [[UInt8]] = []
        for host in hosts {
            let authority = try Self.authority(host)
            if !authorities.contains(authority) { authorities.append(authority) }
        }
        self.id = id
        self.hosts = authorities.map { String(decoding: $0, as: UTF8.self) }
        self.mergesSchemes = mergesSchemes
        self.volatileParameters = volatileParameters
        self.dialects = dialects
        orderedDialects = dialects.map { URLDialect.allCases.filter($0.contains) }
        self.authorities = authorities
        volatileNames = Self.canonicalNames(volatileParameters)
    }

    private static func authority(_ host: String) throws(CanonicalFailure) -> [UInt8] {
        let url = Array("http://\(host)".utf8)
        do throws(URLFault) {
            let parts = try URLParts(url, limit: 1024)
            let isBare = parts.path.isEmpty && parts.query == nil && parts.end == url.count
            guard isBare else { throw .host(host, reason: "an alias group lists hosts, without scheme or path") }
            let port = try parts.canonicalPort(url)
            guard parts.port?.isEmpty != false || port != nil, port != 443 else {
                throw .host(host, reason: "the schemes' own ports are left out in an alias group")
            }
            let name = try HostName.canonical(url[parts.host])
            return name + (port.map { Array(":\($0)".utf8) } ?? [])
        } catch {
            throw .url(excerpt: Excerpt.quote(Array(host.utf8)), error)
        }
    }

    /// Reason why a text cannot be a parameter's name, as the end of a sentence; nil if it can.
    ///
    /// A pattern would be taken, without a message, for a name that no URL has. Names in queries such as `?/x/=1` are
    /// refused too, because such a text in the settings is meant as a pattern.
    package static func fault(inParameterName name: String) -> String? {
        let isExpression = name.count > 1 && name.hasPrefix("/") && name.hasSuffix("/")
        if isExpression || name.utf8.contains(UInt8(ascii: "*")) {
            return "is a pattern, and patterns are not supported. List each name in full"
        }
        if name.utf8.contains(where: { "?&=#".utf8.contains($0) || $0 <= Byte.space || $0 == 0x7F }) {
            return "is not a parameter name. Give the name alone, without ?, & and ="
        }
        return canonicalNames([name]).isEmpty ? "has a % without two hexadecimal digits. Write a plain % as %25" : nil
    }

    /// Names as they appear in a canonical query, in any spelling here. Names that no query can contain are left out.
    static func canonicalNames(_ names: [String]) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        for name in names {
            let bytes = Array(name.utf8)
            var canonical: [UInt8] = []
            guard (try? Escapes.appendCanonical(bytes, 0..<bytes.count, to: &canonical)) != nil else { continue }
            found.insert(canonical)
        }
        return found
    }
}
