package import Posix

/// Whom the worker may ask for a source: hosts, ports and addresses.
///
/// A name is judged before it is resolved, an address before it is connected to; each hop of a redirect is judged like
/// the first. Denial wins over permission.
package struct AccessRules: Sendable, Hashable {
    /// Empty: everybody. `fetch.hosts.allow`.
    package var allow: [HostPattern] = []
    /// `fetch.hosts.deny`.
    package var deny: [HostPattern] = []
    /// Empty: the usual ones. `fetch.ports`.
    package var ports: [PortRange] = []
    package var addresses = AddressGuard()

    package init() {}

    /// Why somebody may not be asked.
    package enum Refusal: Sendable, Hashable {
        /// `fetch.hosts.deny` lists it.
        case denied
        /// `fetch.hosts.allow` lists others.
        case unlisted
        case port(UInt16)
        /// The address guard refuses the address that the URL itself names.
        case address(IPAddress)
    }

    /// What can be said before a name is resolved; `isOwn` knows the addresses of this machine.
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

    /// Whether an address may be connected to, for a host that `refusal` has nothing against.
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

    /// This machine's own addresses are nobody's origin, unless `fetch.allow` has them.
    private func isPublic(_ address: IPAddress, _ isOwn: (IPAddress) -> Bool) -> Bool {
        let target = addresses.target(of: address)
        return addresses.accepts(address)
            && (!(isOwn(address) || isOwn(target)) || addresses.isAllowed(target))
    }
}
