internal import SettingTypes

extension Settings {
    /// The table of settings of the reference page, in Markdown. Those of groups of hosts stand there once.
    package static var reference: String {
        let standard = Settings()
        let rows = (keys + groupKeys).map { key in
            let text = key.text(standard)
            return "| `\(key.name)` | \(text.isEmpty ? "empty" : "`\(text)`") | \(key.expectation) | \(key.meaning) |"
        }
        return (["| key | default | takes | means |", "|---|---|---|---|"] + rows).joined(separator: "\n") + "\n"
    }
}
