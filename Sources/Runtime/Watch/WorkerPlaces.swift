package import Posix

/// Where workers are asked. A name with several addresses, as a Kubernetes headless service has, is asked at each.
package struct WorkerPlaces: Sendable {
    /// One of `watch.workers`.
    package struct Listed: Sendable {
        /// As a URL has it.
        let text: String
        /// nil: it is an address.
        let name: String?
        let port: Int
        package init(_ text: String, name: String?, port: Int) {
            (self.text, self.name, self.port) = (text, name, port)
        }
    }

    private let listed: [Listed]
    /// Of names that had several addresses those that they have now.
    private var found: [String: [String]] = [:]

    package init(_ listed: [Listed]) { self.listed = listed }

    /// To be looked up.
    package var names: Set<String> { Set(listed.compactMap(\.name)) }

    /// What the resolver said; nil, which is that it cannot say, changes nothing.
    ///
    /// A name that had several addresses is shown by its address while it has one alone: while workers are replaced, those that
    /// stay keep their place on the page.
    package mutating func learn(_ addresses: [IPAddress]?, of name: String) {
        guard let addresses else { return }
        // A worker with an address of each family would be two.
        let same = Set(addresses.filter { $0.bits == addresses[0].bits })
        let isOneOfMany = same.count > 1 || found[name] != nil && !same.isEmpty
        found[name] = isOneOfMany ? same.map { $0.bits == 32 ? "\($0)" : "[\($0)]" }.sorted() : nil
    }

    /// Each once, and no more than are shown.
    package var places: [String] {
        var seen: Set<String> = []
        let all = listed.flatMap { one -> [String] in
            guard let name = one.name, let found = found[name] else { return [one.text] }
            return found.map { "\($0):\(one.port)" }
        }
        return Array(all.filter { seen.insert($0).inserted }.prefix(WatchState.workerLimit))
    }
}
