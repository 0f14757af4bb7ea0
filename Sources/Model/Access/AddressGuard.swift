package import Posix

/// Addresses that a fetch may connect to: public ones, and configured ones.
///
/// It denies every address that IANA does not list as globally reachable, and the metadata services of clouds. An IPv6
/// address that embeds an IPv4 address is judged by the embedded one.
package struct AddressGuard: Sendable, Hashable {
    /// Ranges that are accepted although they are denied by default (`fetch.allow`).
    package var allow: [AddressRange]
    /// Prefixes under which the operator's own gateway reaches IPv4 (`fetch.nat64`).
    package var nat64: [NAT64Prefix]

    package init(allow: [AddressRange] = [], nat64: [NAT64Prefix] = []) { (self.allow, self.nat64) = (allow, nat64) }

    /// Address that a connection really leads to: the embedded IPv4 address, or the address itself.
    package func target(of address: IPAddress) -> IPAddress {
        guard case .v6(let high, let low) = address else { return address }
        // ::ffff:0:0/96, IPv4-mapped IPv6.
        if high == 0, low >> 32 == 0xFFFF { return .v4(UInt32(truncatingIfNeeded: low)) }
        if let target = named(address) { return target }
        return Self.wellKnown.contains(address) ? .v4(UInt32(truncatingIfNeeded: low)) : address
    }

    /// Target under one of the operator's own prefixes; nil if none contains the address.
    private func named(_ address: IPAddress) -> IPAddress? { nat64.lazy.compactMap { $0.target(of: address) }.first }

    package func accepts(_ address: IPAddress) -> Bool {
        // The well-known NAT64 prefix leads somewhere only if it is configured, or allowed as a range.
        if Self.wellKnown.contains(address), named(address) == nil, !isAllowed(address) { return false }
        switch target(of: address) {
        case let target where target != address: return accepts(target)
        case .v4: return isAllowed(address) || !Self.denied4.contains { $0.contains(address) }
        case .v6(_, let low):
            if isAllowed(address) { return true }
            // ISATAP: the last bits hold the IPv4 address of the tunnel's far end.
            if low >> 32 & ~0x0200_0000 == 0x5EFE, !accepts(.v4(UInt32(truncatingIfNeeded: low))) { return false }
            return Self.global6.contains(address) && !Self.denied6.contains { $0.contains(address) }
        }
    }

    package func isAllowed(_ address: IPAddress) -> Bool { allow.contains { $0.contains(address) } }

    private static let denied4 = ranges(
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        "168.63.129.16/32")  // Azure's host.

    /// Global unicast IPv6. Loopback, unique-local, link-local and multicast addresses lie outside.
    private static let global6 = AddressRange("2000::/3")!
    private static let denied6 = ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
    private static let wellKnown = AddressRange("64:ff9b::/96")!

    private static func ranges(_ texts: String...) -> [AddressRange] { texts.map { AddressRange($0)! } }
}
