internal import Glibc

extension Command {
    /// Runs what `words` ask for and says how it ended. The only place that turns errors into words and exit codes.
    package func run(_ words: [String]) async -> ExitCode {
        do {
            switch try parse(words) {
            case .help(let path):
                Console.write(Command.helpScreen(path: path))
                return .success
            case .version:
                Console.print("\(name) \(Command.version)")
                return .success
            case .completion(let shell):
                Console.write(completionScript(shell: shell))
                return .success
            case .run(let command, let arguments):
                return try await command.body?(arguments) ?? .usage
            }
        } catch let error as UsageError {
            // The deepest command that was named: its screen has what is missing.
            let path = Self.deepest([self], words[...]).map(\.name)
            Console.complain("\(name): \(error) See '\(path.joined(separator: " ")) --help'.")
            return .usage
        } catch let error as any ErrorOfLines {
            for (place, line) in error.lines.enumerated() { Console.complain((place == 0 ? "\(name): " : "") + line) }
            return .failure
        } catch {
            Console.complain("\(name): \(error)")
            return .failure
        }
    }

    /// Runs the words that the process was started with, then ends it.
    package func main() async -> Never {
        // libdispatch wants more priority for a thread of its own than a plain user gets, and tells the system's log so: that is
        // no line of ours. What a person has set stays.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        exit(await run(Array(Swift.CommandLine.arguments.dropFirst())).rawValue)
    }
}
