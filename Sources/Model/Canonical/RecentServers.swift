internal import VariantSpec

/// What the rules made of the servers of the last URLs: jobs come by the ten thousand of a few, and to check a server's name
/// is half of what it costs to make a URL canonical.
package struct RecentServers: Sendable {
    struct Server: Sendable {
        /// All that stands before the path, as it came.
        let received: [UInt8]
        let canonical: [UInt8]
        let host: [UInt8]
        let group: HostAliasGroup?
        let originGroup: String?
    }

    private var known: [Server] = []
    private var oldest = 0

    /// Each is compared with every URL.
    private static let limit = 4

    package init() {}

    func server(of received: ArraySlice<UInt8>) -> Server? {
        known.first { $0.received.count == received.count && received.starts(with: $0.received) }
    }

    mutating func note(_ server: Server) {
        guard known.count == Self.limit else { return known.append(server) }
        known[oldest] = server
        oldest = (oldest + 1) % Self.limit
    }
}
