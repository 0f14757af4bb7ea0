extension Command {
    /// The screen that `--help` shows for the last command of `path`: at most 80 columns.
    static func helpScreen(path: [Command]) -> String {
        let command = path[path.count - 1]
        let name = path.map(\.name).joined(separator: " ")
        let options = (path.flatMap(\.options) + [.help]).filter { !$0.isHidden }
        var parts = [wrap("OVERVIEW: " + command.abstract, indent: 0), usage(name, command, options)]
        if !command.arguments.isEmpty {
            parts.append(section("ARGUMENTS", command.arguments.map { ("<\($0.name)>", $0.help) }))
        }
        parts.append(
            section("OPTIONS", options.map { $0 == .help && path.count == 1 ? about : (label($0), $0.help) }))
        let listed = command.subcommands.filter { !$0.isHidden }
        if !listed.isEmpty { parts.append(section("SUBCOMMANDS", listed.map { ($0.name, $0.abstract) })) }
        if command.examples.count == 1, "EXAMPLE: \(command.examples[0])".count <= 80 {
            parts.append("EXAMPLE: \(command.examples[0])")
        } else if !command.examples.isEmpty {
            parts.append((["EXAMPLES:"] + command.examples.map { "  " + $0 }).joined(separator: "\n"))
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Every command accepts `--version`; only the program's own help lists it, in one line with `--help`.
    private static var about: (String, String) { (label(.help) + ", --version", "Show this help, or the version.") }

    private static func label(_ option: Option) -> String { (option.short.map { "-\($0), " } ?? "") + option.spelling }

    private static func usage(_ name: String, _ command: Command, _ options: [Option]) -> String {
        let own = options.filter { $0 != .help && !Option.configuration.contains($0) }.map(\.usage)
        let shared = options.contains { Option.configuration.contains($0) } ? ["[<options>]"] : []
        let rest = command.subcommands.isEmpty ? command.arguments.map(\.usage) : ["<subcommand>"]
        func text(_ options: [String]) -> String {
            "USAGE: " + wrap(([name] + options + rest).joined(separator: " "), indent: 7)
        }
        let whole = text(own + shared)
        // A screen has 24 lines, and the options are listed below.
        return whole.split(separator: "\n").count > 3 ? text(["[<options>]"]) : whole
    }

    private static func section(_ title: String, _ rows: [(String, String)]) -> String {
        let column = 24
        let lines = rows.map { label, help in
            let head = "  " + label
            guard head.count < column else { return head + "\n" + wrap(help, indent: column, first: column) }
            return head + String(repeating: " ", count: column - head.count) + wrap(help, indent: column)
        }
        return ([title + ":"] + lines).joined(separator: "\n")
    }

    /// Breaks lines at spaces, but never within brackets, so that `[--lane <lane>]` stays whole.
    static func wrap(_ text: String, indent: Int, first: Int = 0) -> String {
        var pieces: [Substring] = []
        for word in text.split(separator: " ") {
            if let open = pieces.last, open.hasPrefix("["), !open.contains("]") {
                pieces[pieces.count - 1] = open + " " + word
            } else {
                pieces.append(word)
            }
        }
        let margin = String(repeating: " ", count: indent)
        var lines = [String(repeating: " ", count: first)]
        // The first line follows its label, `indent` columns in.
        var room = 79 - indent
        for piece in pieces {
            let isStart = room == 79 - indent
            if !isStart, piece.count + 1 > room {
                lines.append(margin + piece)
                room = 79 - indent - piece.count
            } else {
                lines[lines.count - 1] += (isStart ? "" : " ") + piece
                room -= piece.count + (isStart ? 0 : 1)
            }
        }
        return lines.joined(separator: "\n")
    }
}
