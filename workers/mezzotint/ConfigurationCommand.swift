import CommandLine
import JSONText
import LogChoice
import SettingTypes
import Settings

/// `mezzotint config`: the effective settings, the origin of each, and their problems.
enum ConfigurationCommand {
    static let command = Command(
        "config", abstract: "Check and show the configuration.",
        examples: ["mezzotint config check --config config/embedded.yaml"],
        subcommands: [
            Command(
                "check", abstract: "List every problem of the configuration at once.",
                examples: ["mezzotint config check --config config/embedded.yaml"], options: [.json], run: check),
            Command(
                "show", abstract: "Show every effective setting, and where it comes from.",
                examples: ["mezzotint config show --set data=/srv/mezzotint"], options: [.json], run: show),
            Command(
                "keys", abstract: "List all keys, with defaults and meanings.", examples: ["mezzotint config keys"],
                run: keys),
        ])

    private static func check(_ arguments: ParsedArguments) -> ExitCode {
        var problems: [SettingProblem] = []
        do throws(SettingsFailure) {
            let loaded = try Settings.loaded(
                arguments, inspect: { ChosenLog.problems(of: $0) + $0.jobs.problems + $0.fetch.problems })
            for name in loaded.ignoredVariables { Console.complain("\(name) names no setting and is ignored.") }
        } catch {
            problems = error.problems
        }
        if arguments.flag("json") {
            Output.array(problems) { json, problem in
                json.field("at", problem.origin.description)
                json.key("key")
                if let key = problem.key { json.string(key) } else { json.null() }
                json.field("message", problem.message)
            }
        } else if problems.isEmpty {
            Console.print("The configuration has no problems.")
        } else {
            for problem in problems { Console.complain("\(problem)") }
        }
        return problems.isEmpty ? .success : .failure
    }

    private static func show(_ arguments: ParsedArguments) throws -> ExitCode {
        let loaded = try Settings.loaded(arguments, inspect: ChosenLog.problems)
        if arguments.flag("json") {
            Output.array(loaded.settings.allKeys) { json, key in
                json.field("key", key.name)
                json.field("value", key.text(loaded.settings))
                json.field("from", loaded.origin(of: key).description)
            }
        } else {
            let rows = loaded.settings.allKeys.map {
                [$0.name, $0.text(loaded.settings), loaded.origin(of: $0).description]
            }
            Console.write(TextTable.text(["KEY", "VALUE", "FROM"], rows))
        }
        return .success
    }

    private static func keys(_ arguments: ParsedArguments) -> ExitCode {
        for key in Settings.keys {
            Console.print(
                "\(key.name)\n    Takes \(key.expectation); \(key.text(Settings())) if not set.\n    \(key.meaning)")
        }
        return .success
    }
}
