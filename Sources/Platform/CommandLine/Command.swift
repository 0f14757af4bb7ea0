/// One command of a program: its name, its arguments and options, and its action.
///
/// A program is a tree of commands, and this one table feeds parsing, help and completion. The terms are
/// swift-argument-parser's, so that it could replace this type.
package struct Command: Sendable {
    /// Version of all programs, which are built together.
    package static let version = "0.2.0"

    package typealias Body = @Sendable (ParsedArguments) async throws -> ExitCode

    package let name: String
    /// Summary in one sentence.
    package let abstract: String
    /// Whole command lines, shown as typed.
    package let examples: [String]
    /// Positional arguments, in order; only the last may repeat.
    package let arguments: [Argument]
    /// Options of this command and of all its subcommands.
    package let options: [Option]
    package let subcommands: [Command]
    /// Whether the command works without being listed.
    package let isHidden: Bool
    let body: Body?

    package init(
        _ name: String, abstract: String, examples: [String] = [], arguments: [Argument] = [],
        options: [Option] = [], isHidden: Bool = false, run body: @escaping Body
    ) {
        (self.name, self.abstract, self.examples) = (name, abstract, examples)
        (self.arguments, self.options, self.subcommands) = (arguments, options, [])
        (self.isHidden, self.body) = (isHidden, body)
    }

    /// A command that only groups others.
    package init(
        _ name: String, abstract: String, examples: [String] = [], options: [Option] = [], isHidden: Bool = false,
        subcommands: [Command]
    ) {
        (self.name, self.abstract, self.examples) = (name, abstract, examples)
        (self.arguments, self.options, self.subcommands) = ([], options, subcommands)
        (self.isHidden, self.body) = (isHidden, nil)
    }
}

/// A positional argument.
package struct Argument: Sendable, Hashable {
    package let name: String
    package let help: String
    package let isOptional: Bool
    package let isRepeating: Bool

    package init(_ name: String, help: String, isOptional: Bool = false, isRepeating: Bool = false) {
        (self.name, self.help, self.isOptional, self.isRepeating) = (name, help, isOptional, isRepeating)
    }

    /// Usage such as `<url>` or `[<url> ...]`.
    var usage: String {
        let text = isRepeating ? "<\(name)> ..." : "<\(name)>"
        return isOptional ? "[\(text)]" : text
    }
}

/// A named value or switch.
package struct Option: Sendable, Hashable {
    /// Name without the dashes.
    package let name: String
    package let short: Character?
    /// Placeholder for its value; nil for a flag, which has none.
    package let valueName: String?
    package let help: String
    /// The accepted values; empty: any.
    package let values: [String]
    package let isRepeating: Bool
    package let isHidden: Bool

    package init(
        _ name: String, short: Character? = nil, value: String, help: String, oneOf values: [String] = [],
        isRepeating: Bool = false, isHidden: Bool = false
    ) {
        (self.name, self.short, valueName, self.help) = (name, short, value, help)
        (self.values, self.isRepeating, self.isHidden) = (values, isRepeating, isHidden)
    }

    package init(flag name: String, short: Character? = nil, help: String, isHidden: Bool = false) {
        (self.name, self.short, valueName, self.help) = (name, short, nil, help)
        (values, isRepeating, self.isHidden) = ([], false, isHidden)
    }

    /// Spelling such as `--lane <lane>`.
    var spelling: String { valueName.map { "--\(name) <\($0)>" } ?? "--\(name)" }
    var usage: String { isRepeating ? "[\(spelling) ...]" : "[\(spelling)]" }
}

extension Option {
    /// Options of every program.
    package static let configuration: [Option] = [
        Option("config", value: "file", help: "Read settings from this YAML file."),
        Option("set", value: "key=value", help: "Override one setting; may be repeated.", isRepeating: true),
    ]
    package static let json = Option(flag: "json", help: "Print JSON instead of text.")
    static let help = Option(flag: "help", short: "h", help: "Show this help.")
    static let version = Option(flag: "version", help: "Show the version.")
    static let completion = Option(
        "generate-completion-script", value: "shell", help: "Print a completion script.", oneOf: ["bash", "zsh"],
        isHidden: true)
}

/// Exit code of a program, for scripts.
package enum ExitCode: Int32, Sendable, Hashable {
    case success = 0
    case failure = 1
    case usage = 2
}
