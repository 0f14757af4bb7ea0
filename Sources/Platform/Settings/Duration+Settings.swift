internal import SettingTypes

extension Duration {
    /// Parses the form of settings: `250ms`, `10m`.
    package init?(parsing text: String) {
        guard let milliseconds = Units.number(text, Units.time) else { return nil }
        self = .milliseconds(milliseconds)
    }
}
