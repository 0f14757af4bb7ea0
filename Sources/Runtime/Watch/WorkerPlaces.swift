package import Posix

/// Addresses of the workers to ask. A name with several addresses, such as a Kubernetes headless service, is asked at
/// each.
package struct WorkerPlaces: Sendable {
    /// One entry of `watch.workers`.
    package struct Listed: Sendable {
        /// Text as in a URL.
        let text: String
        /// nil: it is an address.
        let name: String?
        let port: Int
        package init(_ text: String, name: String?, port: Int) {
            (self.text, self.name, self.port) = (text, name, port)
        }
    }

    private let listed: [Listed]
    /// Current addresses of names that have had several.
    private var found: [String: [String]] = [:]

    package init(_ listed: [Listed]) { self.listed = listed }

    /// Names that the resolver must look up.
    package var names: Set<String> { Set(listed.compactMap(\.name)) }

    /// Applies the resolver's result. nil, an unknown result, changes nothing.
    ///
    /// A name that had several addresses is shown by its address while only one is left. So while workers are replaced,
    /// those that stay keep their position on the page.
    package mutating func learn(_ addresses: [IPAddress]?, of name: String) {
        guard let addresses else { return }
        // A worker with an address of each family would count twice.
        let same = Set(addresses.filter { $0.bits == addresses[0].bits })
        let isOneOfMany = same.count > 1 || found[name] != nil && !same.isEmpty
        found[name] = isOneOfMany ? same.map { $0.bits == 32 ? "\($0)" : "[\($0)]" }.sorted() : nil
    }

    /// The addresses, each once, up to the number that is shown.
    package var places: [String] {
        var seen: Set<String> = []
        let all = listed.flatMap { one -> [String] in
            guard let name = one.name, let found = found[name] else { return [one.text] }
            return found.map { "\($0):\(one.port)" }
        }
        return Array(all.filter { seen.insert($0).inserted }.prefix(WatchState.workerLimit))
    }
}
