package import Posix

/// Hosts, ports and addresses that the worker may fetch from.
///
/// A name is checked before it is resolved, an address before the connection is opened. Each hop of a redirect is
/// checked like the first URL. A denial wins over a permission.
package struct AccessRules: Sendable, Hashable {
    /// Hosts that may be fetched from (`fetch.hosts.allow`); empty: all.
    package var allow: [HostPattern] = []
    /// Hosts that may not be fetched from (`fetch.hosts.deny`).
    package var deny: [HostPattern] = []
    /// Ports that may be connected to (`fetch.ports`); empty: the usual ones.
    package var ports: [PortRange] = []
    package var addresses = AddressGuard()

    package init() {}

    /// Reason why a host may not be fetched from.
    package enum Refusal: Sendable, Hashable {
        /// `fetch.hosts.deny` lists the host.
        case denied
        /// `fetch.hosts.allow` does not list the host.
        case unlisted
        case port(UInt16)
        /// The address guard refuses an address that the URL itself contains.
        case address(IPAddress)
    }

    /// Decides before the name is resolved. `isOwn` tests for addresses of this machine.
    package func refusal(of host: RequestedHost, port: UInt16, isOwn: (IPAddress) -> Bool) -> Refusal? {
        let isOpen = ports.isEmpty ? PortRange.isUsual(port) : ports.contains { $0.ports.contains(port) }
        guard isOpen else { return .port(port) }
        switch host {
        case .name(let name):
            if deny.contains(where: { $0.matches(name: name) }) { return .denied }
            return lists(host) || allow.contains(where: \.isRange) ? nil : .unlisted
        case .address(let address):
            if isDenied(address) { return .denied }
            guard lists(host) else { return .unlisted }
            return isPublic(address, isOwn) ? nil : .address(address)
        }
    }

    /// Whether a connection to an address is allowed, for a host that `refusal` accepted.
    package func accepts(_ address: IPAddress, for host: RequestedHost, isOwn: (IPAddress) -> Bool) -> Bool {
        !isDenied(address) && (lists(host) || lists(.address(address))) && isPublic(address, isOwn)
    }

    private func lists(_ host: RequestedHost) -> Bool {
        guard !allow.isEmpty else { return true }
        switch host {
        case .name(let name): return allow.contains { $0.matches(name: name) }
        case .address(let address):
            return allow.contains { $0.matches(address) || $0.matches(addresses.target(of: address)) }
        }
    }

    private func isDenied(_ address: IPAddress) -> Bool {
        deny.contains { $0.matches(address) || $0.matches(addresses.target(of: address)) }
    }

    /// Addresses of this machine count as public only if `fetch.allow` lists them.
    private func isPublic(_ address: IPAddress, _ isOwn: (IPAddress) -> Bool) -> Bool {
        let target = addresses.target(of: address)
        return addresses.accepts(address)
            && (!(isOwn(address) || isOwn(target)) || addresses.isAllowed(target))
    }
}
