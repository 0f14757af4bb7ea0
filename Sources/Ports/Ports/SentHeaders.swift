package import Canonical

/// Headers that origins receive, except conditional ones. A fetcher sends them, and stored responses were selected by
/// them.
package struct SentHeaders: Sendable {
    package let userAgent: String
    /// Groups of hosts whose requests have headers of their own. The target of a redirect gets its own group's headers.
    package var groups: [(group: OriginGroup, headers: [(name: String, value: String)])] = []

    package init(userAgent: String) { self.userAgent = userAgent }

    /// Headers in addition to `User-Agent` and `Accept-Encoding: identity`, which the HTTP client adds. A group's
    /// headers replace the default ones.
    package func own(for url: String) -> [(name: String, value: String)] {
        var own: [(name: String, value: String)] = []
        if !groups.isEmpty {
            let origin = OriginHost(of: url)
            own = groups.first { $0.group.has(origin.name) }?.headers ?? []
        }
        return own.contains { $0.name.lowercased() == "accept" } ? own : [("Accept", "*/*")] + own
    }

    package func all(for url: String) -> [(name: String, value: String)] {
        [("User-Agent", userAgent), ("Accept-Encoding", "identity")] + own(for: url)
    }
}
