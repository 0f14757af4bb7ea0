internal import Glibc

/// Addresses of names, by the system's resolver.
package enum NameLookup {
    /// Addresses of a name in the resolver's order; empty if it has none, nil if the resolver fails.
    package static func addresses(of name: String) async -> [IPAddress]? {
        await withCheckedContinuation { continuation in
            // The resolver blocks for as long as it waits.
            OwnThread.start("name lookup") { continuation.resume(returning: found(name)) }
        }
    }

    /// EAI_NODATA, which Swift does not import.
    private static let noAddress: Int32 = -5

    private static func found(_ name: String) -> [IPAddress]? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        switch getaddrinfo(name, nil, &hints, &first) {
        case 0: break
        case EAI_NONAME, noAddress: return []
        default: return nil
        }
        defer { freeaddrinfo(first) }
        var addresses: [IPAddress] = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ai_next
            let bytes = UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen))
            let address = entry.ai_family == AF_INET6 ? IPAddress(bytes: bytes[8..<24]) : IPAddress(bytes: bytes[4..<8])
            if let address { addresses.append(address) }
        }
        return addresses
    }
}
