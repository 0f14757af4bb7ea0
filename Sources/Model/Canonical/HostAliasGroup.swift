internal import VariantSpec

/// Hosts that serve the same images under the same paths.
///
/// Only what is listed is merged; the host is never dropped from a key, since strangers' `/a.jpg` would meet there.
package struct HostAliasGroup: Sendable, Hashable {
    /// Part of the source key: renaming a group renames its sources.
    package let id: String
    /// In canonical form: `host`, or `host:port` for a port that is not the scheme's own. The first stands in the
    /// canonical URL.
    package let hosts: [String]
    /// Whether http and https are one; the canonical URL then says https.
    package let mergesSchemes: Bool
    package let volatileParameters: [String]
    /// nil: as the rules say for all hosts.
    package let dialects: Set<URLDialect>?

    let orderedDialects: [URLDialect]?
    let authorities: [[UInt8]]
    let volatileNames: Set<[UInt8]>

    /// - Failure: a host that no URL could have, or that names port 80 or 443 (write it without).
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

    /// Why a name is none that a query could have, as the end of a sentence; nil if it is one. A pattern would silently be taken
    /// for a name that no URL has. Queries such as `?/x/=1` exist, and their names are refused, too: who writes one here means
    /// a pattern.
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

    /// Names as they stand in a canonical query, however they are spelled here; what no query can hold is left out.
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
