internal import VariantSpec

/// URL that a source is fetched from.
///
/// It may contain secrets that only the origin should see, so every description and dump of it is limited to `shown`.
/// Code that needs the whole URL must name `fetched`.
package struct SourceURL: Sendable, Hashable {
    /// The received bytes without the fragment.
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

/// A URL safe to show in logs, lists and messages: without credentials and hidden parameters.
package struct ShownURL: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    /// Takes any text, even if it is not a URL.
    package init(_ url: String, hiding hidden: HiddenParameters = .wellKnown) {
        guard url.utf8.contains(UInt8(ascii: "@")) else {
            description = hidden.hide(in: url)
            return
        }
        description = hidden.hide(in: String(decoding: Excerpt.withoutUser(Array(url.utf8)), as: UTF8.self))
    }

    /// The URL without query and fragment, for URLs that the canonical rules do not cover.
    package var withoutQuery: String {
        guard let end = description.firstIndex(where: { "?#".contains($0) }) else { return description }
        return description[...end] + "…"
    }
}
