package import Canonical
package import Clocks
internal import Failures

/// Choice of dead letters by code, host and time; a property that is nil lets every letter through.
package struct DeadLetterFilter: Sendable {
    package var code: String?
    /// A server (`https://img.example:8443`), a host with or without a port, or the name of a group of origins.
    package var host: String?
    package var since: WallTime?
    /// End of the time range, outside of it.
    package var until: WallTime?

    package init() {}

    package func passes(_ deadLetter: DeadLetter, groups: [OriginGroup]) -> Bool {
        if let code, deadLetter.cause.code != code { return false }
        if let since, deadLetter.at < since { return false }
        if let until, deadLetter.at >= until { return false }
        guard let host else { return true }
        guard let url = deadLetter.url?.description else { return false }
        let server = OriginHost(of: url)
        if groups.origin(of: url).description == host { return true }
        guard !host.contains("://") else { return OriginHost(of: host) == server }
        // Both schemes have the same name, and a port only if it is not theirs.
        let named = ["http://", "https://"].map { OriginHost(of: $0 + host) }
        return named.contains(server)
            || named.allSatisfy { $0.description.hasSuffix("//" + Self.text($0.name)) }
                && named[0].name.elementsEqual(server.name)
    }

    private static func text(_ name: Substring.UTF8View) -> String { String(decoding: name, as: UTF8.self) }
}
