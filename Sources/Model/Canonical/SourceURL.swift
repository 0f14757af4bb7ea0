internal import VariantSpec

/// The URL that a source is fetched from. It may hold what only the origin should see, so no text and no dump of it shows
/// more than `shown`: to have more, `fetched` must be said.
package struct SourceURL: Sendable, Hashable {
    /// The received bytes less the fragment.
    package let fetched: String
    package let shown: ShownURL

    package init(_ fetched: String, hiding hidden: HiddenParameters = .wellKnown) {
        (self.fetched, shown) = (fetched, ShownURL(fetched, hiding: hidden))
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(fetched) }
}

extension SourceURL: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}

extension SourceURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { shown.description }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A URL as people may see it in logs, lists and messages: without a user, and without hidden parameters.
package struct ShownURL: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    /// Of any text: it need not be a URL.
    package init(_ url: String, hiding hidden: HiddenParameters = .wellKnown) {
        guard url.utf8.contains(UInt8(ascii: "@")) else {
            description = hidden.hide(in: url)
            return
        }
        description = hidden.hide(in: String(decoding: Excerpt.withoutUser(Array(url.utf8)), as: UTF8.self))
    }

    /// Of a URL that no rules of ours are about.
    package var withoutQuery: String {
        guard let end = description.firstIndex(where: { "?#".contains($0) }) else { return description }
        return description[...end] + "…"
    }
}
