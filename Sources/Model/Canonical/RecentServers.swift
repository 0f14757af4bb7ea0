internal import VariantSpec

/// Canonical forms of the servers of recent URLs.
///
/// Jobs come by the ten thousand for a few servers, and canonicalising the server is half of the cost of canonicalising
/// a URL.
package struct RecentServers: Sendable {
    struct Server: Sendable {
        /// Everything before the path, as received.
        let received: [UInt8]
        let canonical: [UInt8]
        let host: [UInt8]
        let group: HostAliasGroup?
        let originGroup: String?
    }

    private var known: [Server] = []
    private var oldest = 0

    /// Small, because each entry is compared with every URL.
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
