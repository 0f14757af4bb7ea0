internal import VariantSpec

/// Hosts that share settings of origins: `origins.cdn.hosts`.
package struct OriginGroup: Sendable, Hashable {
    package let name: String
    /// Hosts in canonical form, at any port: `img.example.com`, or `*.example.com` for every name below it.
    package let hosts: [String]
    /// Whether requests to these hosts carry headers of the group's own. The headers may change the response, so the
    /// group's name is then part of its sources' keys.
    package let hasHeaders: Bool

    private let names: Set<[UInt8]>
    /// Parent domains, each with a leading dot.
    private let parents: [[UInt8]]

    /// - Failure: a host that no URL can have.
    package init(name: String, hosts: [String], hasHeaders: Bool = false) throws(CanonicalFailure) {
        var (names, parents): (Set<[UInt8]>, [[UInt8]]) = ([], [])
        for host in hosts {
            let isBelow = host.hasPrefix("*.")
            do throws(URLFault) {
                let bytes = try HostName.canonical(Array(host.utf8)[(isBelow ? 2 : 0)...])
                if isBelow { parents.append([Byte.dot] + bytes) } else { names.insert(bytes) }
            } catch {
                throw .url(excerpt: Excerpt.quote(Array(host.utf8)), error)
            }
        }
        (self.name, self.hosts, self.hasHeaders, self.names, self.parents) = (name, hosts, hasHeaders, names, parents)
    }

    /// - Parameter host: in canonical form, without its port.
    package func has(_ host: some Collection<UInt8>) -> Bool {
        names.contains(Array(host))
            || parents.contains { $0.count < host.count && host.suffix($0.count).elementsEqual($0) }
    }
}

extension [OriginGroup] {
    /// Origin of a URL that the canonical rules accepted: the first group that lists its host, or else the server
    /// itself.
    package func origin(of url: String) -> OriginHost {
        let server = OriginHost(of: url)
        guard !isEmpty, let group = first(where: { $0.has(server.name) }) else { return server }
        return OriginHost(group: group.name)
    }
}
