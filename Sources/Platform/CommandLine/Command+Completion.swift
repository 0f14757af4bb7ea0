extension Command {
    /// A script for bash, or for zsh through its bash emulation, that completes commands and options.
    func completionScript(shell: String) -> String {
        var cases: [String] = []
        func visit(_ command: Command, path: String, inherited: [Option]) {
            let options = (inherited + command.options).filter { !$0.isHidden }
            let listed = command.subcommands.filter { !$0.isHidden }
            let words = listed.map(\.name) + (options + (inherited.isEmpty && path == name ? [.help, .version] : [.help])).map { "--\($0.name)" }
            cases.append("        \"\(path)\") words=\"\(words.joined(separator: " "))\" ;;")
            for option in options where !option.values.isEmpty {
                cases.append(
                    "        \"\(path) --\(option.name)\") words=\"\(option.values.joined(separator: " "))\" ;;")
            }
            for next in listed { visit(next, path: "\(path) \(next.name)", inherited: options) }
        }
        visit(self, path: name, inherited: [])
        let function = "_" + name.map { $0 == "-" ? "_" : String($0) }.joined()
        return """
            \(shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "")\(function)() {
                local path="\(name)" last="${COMP_WORDS[COMP_CWORD-1]}" word words=""
                for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                    case "$word" in -*) ;; *) path="$path $word" ;; esac
                done
                case "$last" in --*) path="$path $last" ;; esac
                case "$path" in
            \(cases.joined(separator: "\n"))
                esac
                COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
            }
            complete -o default -F \(function) \(name)

            """
    }
}
