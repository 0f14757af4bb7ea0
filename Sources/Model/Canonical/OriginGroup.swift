internal import VariantSpec

/// Hosts that share what the settings say of origins: `origins.cdn.hosts`.
package struct OriginGroup: Sendable, Hashable {
    package let name: String
    /// In canonical form: `img.example.com`, or `*.example.com` for every name below it; at any port.
    package let hosts: [String]
    /// Whether they are asked with headers of their own, which may change what is served: then the group's name is part of
    /// their sources' keys.
    package let hasHeaders: Bool

    private let names: Set<[UInt8]>
    /// Each with the dot before it.
    private let parents: [[UInt8]]

    /// - Failure: a host that no URL could have.
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
    /// The first that lists a host. Whoever is asked for a URL that the canonical rules took is of one kind: its group,
    /// or the server itself.
    package func origin(of url: String) -> OriginHost {
        let server = OriginHost(of: url)
        guard !isEmpty, let group = first(where: { $0.has(server.name) }) else { return server }
        return OriginHost(group: group.name)
    }
}
