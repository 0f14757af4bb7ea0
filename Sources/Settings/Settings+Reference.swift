extension Settings {
    /// The table of settings of the reference page, in Markdown.
    package static var reference: String {
        let standard = Settings()
        let rows = keys.map { key in
            let text = key.text(standard)
            return "| `\(key.name)` | \(text.isEmpty ? "empty" : "`\(text)`") | \(key.expectation) | \(key.meaning) |"
        }
        return (["| key | default | takes | means |", "|---|---|---|---|"] + rows).joined(separator: "\n") + "\n"
    }
}
