/// A part of a settings file with its line: text, a list, or a map in the order written.
package struct YAMLNode: Sendable, Equatable {
    package indirect enum Content: Sendable, Equatable {
        case scalar(String)
        case list([YAMLNode])
        case map([Entry])
    }

    package struct Entry: Sendable, Equatable {
        package let key: String
        package let line: Int
        package let value: YAMLNode
    }

    package let content: Content
    package let line: Int

    package init(_ content: Content, line: Int = 0) { (self.content, self.line) = (content, line) }

    package var entries: [Entry]? {
        switch content {
        case .map(let entries): entries
        // Nothing after the colon, or only comments.
        case .scalar(""): []
        default: nil
        }
    }

    /// A list of text; a single text is split at its commas.
    package var words: [String]? {
        switch content {
        case .scalar(let text):
            text.split(separator: ",").map { String($0.drop { $0 == " " }) }
        case .list(let items):
            items.reduce(into: Optional([])) { words, item in
                if case .scalar(let text) = item.content { words?.append(text) } else { words = nil }
            }
        case .map: nil
        }
    }

    /// The node without the line end of each text, as mounted secrets and YAML blocks have one.
    package var withoutLineEnds: YAMLNode {
        switch content {
        case .scalar(let text): YAMLNode(.scalar(text.withoutLineEnd), line: line)
        case .list(let items): YAMLNode(.list(items.map(\.withoutLineEnds)), line: line)
        case .map(let entries):
            YAMLNode(
                .map(entries.map { Entry(key: $0.key, line: $0.line, value: $0.value.withoutLineEnds) }), line: line)
        }
    }

    /// Its name in a message, shortened to fit a line.
    package var brief: String {
        switch content {
        case .scalar(let text): text.isEmpty ? "nothing" : "'\(text.prefix(60))\(text.count > 60 ? "…" : "")'"
        case .list: words.map { "[\($0.joined(separator: ", ").prefix(60))]" } ?? "a list"
        case .map: "a map"
        }
    }
}

extension String {
    /// The text without one `\n` or `\r\n` at its end, which are one character each.
    package var withoutLineEnd: String { hasSuffix("\n") || hasSuffix("\r\n") ? String(dropLast()) : self }
}
