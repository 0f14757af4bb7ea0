internal import Glibc

extension Command {
    /// Runs the command line and returns its exit code. Only this function turns errors into messages and exit codes.
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
            // The deepest named command: its help explains the missing parts.
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

    /// Runs the process's own command line, then exits.
    package func main() async -> Never {
        // libdispatch requests a priority for one of its threads that a plain user does not get, and logs the refusal,
        // which would look like our log line. A value that the user has set stays.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        exit(await run(Array(Swift.CommandLine.arguments.dropFirst())).rawValue)
    }
}
