/// A parsed command line.
enum Invocation: Sendable {
    case run(Command, ParsedArguments)
    case help(path: [Command])
    case version
    case completion(shell: String)
}

extension Command {
    /// Reads a command line against the table. Options may appear anywhere; `--` ends them; `-` is an argument.
    func parse(_ words: [String]) throws(UsageError) -> Invocation {
        if words.first == "help" && !subcommands.isEmpty { return try parse(words.dropFirst() + ["--help"]) }
        var path = [self]
        var known = options + [.help, .version, .completion]
        var given: [String: [String]] = [:]
        var positionals: [String] = []
        var rest = words[...]
        var optionsEnded = false
        while let word = rest.popFirst() {
            if !optionsEnded, word == "--" {
                optionsEnded = true
            } else if !optionsEnded, word.hasPrefix("-"), word != "-" {
                let (option, value) = try Self.option(word, among: known, next: &rest)
                if option == .help { return .help(path: Self.deepest(path, rest)) }
                if option == .version { return .version }
                given[option.name, default: []].append(value)
            } else if let command = path.last, !command.subcommands.isEmpty {
                guard let next = command.subcommands.first(where: { $0.name == word }) else {
                    let names = command.subcommands.filter { !$0.isHidden }.map(\.name)
                    throw UsageError("There is no command '\(word)'." + Spelling.hint(for: word, among: names))
                }
                path.append(next)
                known += next.options
            } else {
                positionals.append(word)
            }
        }
        if let shell = given[Option.completion.name]?.last { return .completion(shell: shell) }
        return .run(
            path[path.count - 1],
            try Self.checked(path, ParsedArguments(command: path.map(\.name), positionals: positionals, options: given))
        )
    }

    /// The option that `word` names, and its value: after `=`, or the next word.
    private static func option(
        _ word: String, among known: [Option], next: inout ArraySlice<String>
    ) throws(UsageError) -> (Option, String) {
        let crop = word.firstIndex(of: "=") ?? word.endIndex
        let name = String(word[..<crop])
        let isMatch: (Option) -> Bool = { "--\($0.name)" == name || $0.short.map { "-\($0)" } == name }
        guard let option = known.last(where: isMatch) else {
            let names = known.filter { !$0.isHidden }.map { "--\($0.name)" }
            throw UsageError("There is no option '\(name)'." + Spelling.hint(for: name, among: names))
        }
        guard option.valueName != nil else {
            if crop < word.endIndex { throw UsageError("'\(name)' takes no value.") }
            return (option, "")
        }
        let value: String
        if crop < word.endIndex {
            value = String(word[word.index(after: crop)...])
        } else if let following = next.first, following == "-" || !following.hasPrefix("-") || Double(following) != nil
        {
            value = next.removeFirst()
        } else {
            throw UsageError("'\(option.spelling)' needs a value.")
        }
        if !option.values.isEmpty, !option.values.contains(value) {
            let choices =
                option.values.dropLast().map { $0 + (option.values.count > 2 ? ", " : " ") }.joined()
                + (option.values.count > 1 ? "or " : "") + option.values[option.values.count - 1]
            throw UsageError(
                "'\(option.spelling)': expected \(choices), got '\(value)'."
                    + Spelling.hint(for: value, among: option.values))
        }
        return (option, value)
    }

    /// The last command that words name: `--help` before a subcommand's name still refers to that subcommand.
    static func deepest(_ path: [Command], _ rest: ArraySlice<String>) -> [Command] {
        rest.reduce(into: path) { path, word in
            if let next = path[path.count - 1].subcommands.first(where: { $0.name == word }) { path.append(next) }
        }
    }

    private static func checked(_ path: [Command], _ parsed: ParsedArguments) throws(UsageError) -> ParsedArguments {
        let command = path[path.count - 1]
        if command.body == nil {
            let names = command.subcommands.filter { !$0.isHidden }.map(\.name).joined(separator: ", ")
            throw UsageError("'\(parsed.command.joined(separator: " "))' needs a command: \(names).")
        }
        let required = command.arguments.filter { !$0.isOptional }.count
        if parsed.positionals.count < required {
            throw UsageError("Missing argument '<\(command.arguments[parsed.positionals.count].name)>'.")
        }
        let isOpen = command.arguments.last?.isRepeating ?? false
        if !isOpen, parsed.positionals.count > command.arguments.count {
            throw UsageError("Unexpected argument '\(parsed.positionals[command.arguments.count])'.")
        }
        return parsed
    }
}
