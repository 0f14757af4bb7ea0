/// One command of a program: what people type, what it takes, what it does.
///
/// A program is a tree of these, and the one table that feeds parsing, help and completion. The words are
/// swift-argument-parser's, so that it could be swapped in.
package struct Command: Sendable {
    /// Of all programs, which are built together.
    package static let version = "0.2.0"

    package typealias Body = @Sendable (ParsedArguments) async throws -> ExitCode

    package let name: String
    /// One sentence.
    package let abstract: String
    /// Whole command lines, shown as they are typed.
    package let examples: [String]
    /// What is given without a name, in order; only the last may repeat.
    package let arguments: [Argument]
    /// Taken by this command and by all below it.
    package let options: [Option]
    package let subcommands: [Command]
    /// Works, but is not listed.
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

/// A value given by its place.
package struct Argument: Sendable, Hashable {
    package let name: String
    package let help: String
    package let isOptional: Bool
    package let isRepeating: Bool

    package init(_ name: String, help: String, isOptional: Bool = false, isRepeating: Bool = false) {
        (self.name, self.help, self.isOptional, self.isRepeating) = (name, help, isOptional, isRepeating)
    }

    /// `<url>`, `[<url> ...]`.
    var usage: String {
        let text = isRepeating ? "<\(name)> ..." : "<\(name)>"
        return isOptional ? "[\(text)]" : text
    }
}

/// A value or a switch given by its name.
package struct Option: Sendable, Hashable {
    /// Without the dashes.
    package let name: String
    package let short: Character?
    /// What its value is called; nil for a flag, which has none.
    package let valueName: String?
    package let help: String
    /// The only values it takes; empty if any.
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

    /// `--lane <lane>`.
    var spelling: String { valueName.map { "--\(name) <\($0)>" } ?? "--\(name)" }
    var usage: String { isRepeating ? "[\(spelling) ...]" : "[\(spelling)]" }
}

extension Option {
    /// What every program takes.
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

/// How a program ends, as scripts see it.
package enum ExitCode: Int32, Sendable, Hashable {
    case success = 0
    case failure = 1
    case usage = 2
}
