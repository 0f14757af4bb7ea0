internal import CommandLine

/// The layer that set a value.
package enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
    case standard
    case file(String, line: Int)
    case environment(String)
    /// `--set`, or `--config` (in the environment: `MEZZOTINT_CONFIG`) for problems of the file as a whole.
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

/// One problem: where the value was set, its key, and the expectation.
package struct SettingProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package let origin: SettingOrigin
    /// nil if the problem concerns the file as a whole.
    package let key: String?
    package let message: String

    package var description: String { "\(origin): " + (key.map { "\($0): " } ?? "") + message }
}

/// Unusable settings, with all problems at once.
package struct SettingsFailure: ErrorOfLines, Sendable, Hashable, CustomStringConvertible {
    package let problems: [SettingProblem]

    package var lines: [String] {
        guard problems.count > 1 else { return problems.map(\.description) }
        return ["\(problems.count) problems in the settings:"] + problems.map { "  \($0)" }
    }
    package var description: String { lines.joined(separator: "\n") }
}
