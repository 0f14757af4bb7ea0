internal import CommandLine

/// Where a setting was said.
package enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
    case standard
    case file(String, line: Int)
    case environment(String)
    /// `--set`, or `--config` (in the environment: `MEZZOTINT_CONFIG`) for what is wrong with the file as a whole.
    case flag(String)

    package var description: String {
        switch self {
        case .standard: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name): name
        case .flag(let name): name
        }
    }
}

/// One thing that is wrong: where it was said, of which key, and what was meant.
package struct SettingProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package let origin: SettingOrigin
    /// nil where the problem is of the file as a whole.
    package let key: String?
    package let message: String

    package var description: String { "\(origin): " + (key.map { "\($0): " } ?? "") + message }
}

/// Settings that cannot be used, with every problem at once.
package struct SettingsFailure: ErrorOfLines, Sendable, Hashable, CustomStringConvertible {
    package let problems: [SettingProblem]

    package var lines: [String] {
        guard problems.count > 1 else { return problems.map(\.description) }
        return ["\(problems.count) problems in the settings:"] + problems.map { "  \($0)" }
    }
    package var description: String { lines.joined(separator: "\n") }
}
