package import Canonical

/// The headers that origins see, less the conditions: what a fetcher sends, and what stored answers were chosen by.
package struct SentHeaders: Sendable {
    package var userAgent = "mezzotint/0.1"
    /// Hosts that are asked with headers of their own. A redirect's target is asked with its own.
    package var groups: [(group: OriginGroup, headers: [(name: String, value: String)])] = []

    package init() {}

    /// Beside `User-Agent` and `Accept-Encoding: identity`, which an HTTP client sends. A group's take the place of ours.
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
