internal import Clocks

/// `Cache-Control` as a private cache reads it. Other directives are ignored, as are directives for shared caches.
package struct CacheControl: Sendable, Hashable {
    /// Freshness lifetime. An unreadable value counts as 0, which makes the response stale (RFC 9111, 4.2.1).
    package var maxAge: Duration?
    package var staleWhileRevalidate: Duration?
    package var staleIfError: Duration?
    package var noStore = false
    /// Set by `no-cache` without field names. With field names, the directive only concerns fields that a cache passes
    /// on, and this cache passes on none.
    package var noCache = false
    package var mustRevalidate = false
    package var mustUnderstand = false
    package var isPublic = false
    /// Restrictions from the redirects that led to this response. They are set for each response, so an origin's own
    /// directives of these names have no effect.
    package var redirects = Redirects()

    package struct Redirects: Sendable, Hashable {
        package var noCache = false
        package var mustRevalidate = false
    }

    /// Longest time that a number of seconds can express (RFC 9111, 1.2.2).
    package static let longest = Duration.seconds(1 << 31)

    package init() {}

    /// Reads all lines of the header. If a directive is repeated, the first one counts.
    package init(_ lines: [String]) {
        for line in lines {
            var directives = Directives(line)
            while let (name, value) = directives.next() { read(name, value) }
        }
    }

    private mutating func read(_ name: String, _ value: String?) {
        switch name {
        case "max-age": maxAge = maxAge ?? Self.duration(value) ?? .zero
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? Self.duration(value) ?? .zero
        case "stale-if-error": staleIfError = staleIfError ?? Self.duration(value) ?? .zero
        case "no-store": noStore = true
        case "no-cache": if value == nil { noCache = true }
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "public": isPublic = true
        case "redirect-no-cache": redirects.noCache = true
        case "redirect-must-revalidate": redirects.mustRevalidate = true
        default: break
        }
    }

    /// Parses a number of seconds, digits only, capped at `longest`.
    package static func duration(_ text: String?) -> Duration? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ $0 &- 48 < 10 }) else { return nil }
        return Int64(text).map { min(.seconds($0), longest) } ?? longest
    }

    /// Stored form: each directive that has an effect, once.
    package var text: String {
        var parts: [String] = []
        if let maxAge { parts.append("max-age=\(maxAge.components.seconds)") }
        if let staleWhileRevalidate { parts.append("stale-while-revalidate=\(staleWhileRevalidate.components.seconds)") }
        if let staleIfError { parts.append("stale-if-error=\(staleIfError.components.seconds)") }
        if noStore { parts.append("no-store") }
        if noCache { parts.append("no-cache") }
        if mustRevalidate { parts.append("must-revalidate") }
        if mustUnderstand { parts.append("must-understand") }
        if isPublic { parts.append("public") }
        if redirects.noCache { parts.append("redirect-no-cache") }
        if redirects.mustRevalidate { parts.append("redirect-must-revalidate") }
        return parts.joined(separator: ", ")
    }

    /// Splits one line at commas outside of quotes.
    private struct Directives {
        private var rest: ArraySlice<UInt8>

        init(_ line: String) { rest = Array(line.utf8)[...] }

        /// The next directive: its name in lower case, and its value without quotes.
        mutating func next() -> (String, String?)? {
            while let first = rest.first, first == 44 || first <= 32 { rest.removeFirst() }
            guard !rest.isEmpty else { return nil }
            let name = take { $0 != 61 && $0 != 44 }
            var value: String?
            if rest.first == 61 {
                rest.removeFirst()
                value = rest.first == 34 ? quoted() : take { $0 != 44 }
            }
            _ = take { $0 != 44 }
            return (Self.trimmed(name).lowercased(), value)
        }

        private mutating func take(while belongs: (UInt8) -> Bool) -> String {
            let taken = rest.prefix(while: belongs)
            rest = rest[taken.endIndex...]
            return Self.trimmed(String(decoding: taken, as: UTF8.self))
        }

        private mutating func quoted() -> String {
            rest.removeFirst()
            var text: [UInt8] = []
            while let byte = rest.popFirst(), byte != 34 {
                // A backslash makes the next byte literal.
                text.append(byte == 92 ? rest.popFirst() ?? byte : byte)
            }
            return String(decoding: text, as: UTF8.self)
        }

        private static func trimmed(_ text: String) -> String {
            String(decoding: text.utf8.drop { $0 <= 32 }.reversed().drop { $0 <= 32 }.reversed(), as: UTF8.self)
        }
    }
}
