package import Posix

/// Hosts by name or by address, as `fetch.hosts.allow` and `fetch.hosts.deny` list them: `img.example.com`,
/// `*.example.com` (every name below it), `203.0.113.0/24`.
package enum HostPattern: Sendable, Hashable, CustomStringConvertible {
    case name(String)
    case below(String)
    case range(AddressRange)

    /// Parses a pattern; names may be internationalised and in any spelling. nil if the text is not a pattern.
    package init?(_ text: String) {
        if let range = AddressRange(text.hasPrefix("[") ? String(text.dropFirst().dropLast()) : text) {
            self = .range(range)
            return
        }
        let isBelow = text.hasPrefix("*.")
        guard case .name(let name)? = RequestedHost(isBelow ? String(text.dropFirst(2)) : text) else { return nil }
        self = isBelow ? .below(name) : .name(name)
    }

    package var description: String {
        switch self {
        case .name(let name): name
        case .below(let name): "*.\(name)"
        case .range(let range): range.description
        }
    }

    package func matches(name: String) -> Bool {
        switch self {
        case .name(let own): name == own
        case .below(let parent): name.hasSuffix(".\(parent)")
        case .range: false
        }
    }

    func matches(_ address: IPAddress) -> Bool {
        if case .range(let range) = self { range.contains(address) } else { false }
    }

    var isRange: Bool { if case .range = self { true } else { false } }
}
