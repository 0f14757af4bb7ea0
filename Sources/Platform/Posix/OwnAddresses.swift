internal import CPosix
internal import Glibc
internal import Synchronization

/// Addresses of this machine's interfaces, read at first and after each change that the kernel reports.
///
/// - Ownership: a netlink socket, closed by `deinit`. Without one, addresses are read each time.
package final class OwnAddresses: Sendable {
    private let changes: Int32
    private let known: Mutex<Set<IPAddress>>

    package init() {
        changes = mz_watch_addresses()
        known = Mutex(Self.read())
    }

    deinit { if changes >= 0 { close(changes) } }

    package func contains(_ address: IPAddress) -> Bool {
        known.withLock { known in
            if mz_addresses_changed(changes) != 0 { known = Self.read() }
            return known.contains(address)
        }
    }

    private static func read() -> Set<IPAddress> {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: Set<IPAddress> = []
        var next = first
        while let interface = next?.pointee {
            next = interface.ifa_next
            guard let address = interface.ifa_addr else { continue }
            let bytes = UnsafeRawBufferPointer(start: address, count: 24)
            switch Int32(address.pointee.sa_family) {
            case AF_INET: IPAddress(bytes: bytes[4..<8]).map { _ = found.insert($0) }
            case AF_INET6: IPAddress(bytes: bytes[8..<24]).map { _ = found.insert($0) }
            default: break
            }
        }
        return found
    }
}
