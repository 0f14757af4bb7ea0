internal import SettingTypes

extension Settings {
    /// The reference page's table of settings, in Markdown. Settings of groups of hosts appear once.
    package static var reference: String {
        let standard = Settings()
        let rows = (keys + groupKeys).map { key in
            let text = key.text(standard)
            return "| `\(key.name)` | \(text.isEmpty ? "empty" : "`\(text)`") | \(key.expectation) | \(key.meaning) |"
        }
        return (["| key | default | takes | means |", "|---|---|---|---|"] + rows).joined(separator: "\n") + "\n"
    }
}
