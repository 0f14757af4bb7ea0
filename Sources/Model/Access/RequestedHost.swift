internal import DomainNames
package import Posix

/// Host that a URL names: a name in the form that DNS knows, or an address.
package enum RequestedHost: Sendable, Hashable, CustomStringConvertible {
    case name(String)
    case address(IPAddress)

    /// Parses a host as libcurl reads it, with an IPv6 address in brackets. nil if the text cannot be a host.
    package init?(_ text: String) {
        if text.hasPrefix("[") {
            guard text.hasSuffix("]"), let address = IPAddress(text.dropFirst().dropLast()), address.bits == 128 else {
                return nil
            }
            self = .address(address)
            return
        }
        var name = Array(text.utf8)
        // As in libcurl: a host that is all ASCII is not checked as an international name.
        if !name.allSatisfy({ $0 < 128 }) {
            guard let ascii = try? DomainName.ascii(name) else { return nil }
            name = ascii
        }
        if name.count > 1, name.last == UInt8(ascii: ".") { name.removeLast() }
        name = name.map { $0 &- 65 < 26 ? $0 | 32 : $0 }
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard name.count < 254, !labels.contains(where: \.isEmpty), name.allSatisfy(Self.isOfNames) else { return nil }
        let spelled = String(decoding: name, as: UTF8.self)
        self = IPAddress(spelled).map { .address($0) } ?? .name(spelled)
    }

    package var description: String {
        switch self {
        case .name(let name): name
        case .address(let address): address.description
        }
    }

    private static func isOfNames(_ byte: UInt8) -> Bool {
        byte &- 97 < 26 || byte &- 48 < 10 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "_")
    }
}
