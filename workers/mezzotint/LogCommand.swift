import CommandLine
import Glibc
import JSONText
internal import KafkaSetup
import LogChoice
import Ports
import Settings
import StoreChoice

/// `mezzotint log`: the embedded log as a file.
enum LogCommand {
    static let command = Command(
        "log", abstract: "Back up the embedded log.", examples: ["mezzotint log backup /backup/log.sqlite"],
        subcommands: [
            Command(
                "backup", abstract: "Write the log to one new file, while workers and publishers may run.",
                examples: ["mezzotint log backup /backup/log.sqlite"],
                arguments: [Argument("file", help: "The new file. An existing file is not replaced.")],
                options: [.json], run: backUp)
        ])

    private static func backUp(_ arguments: ParsedArguments) async throws -> ExitCode {
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        let file = arguments.positionals[0]
        try LogAccess.require(settings, R_OK)
        guard let bytes = try await ChosenLog.backUp(settings, to: file) else {
            throw CommandFailure(
                "The log is on the Kafka cluster at \(settings.kafka.bootstrap), which keeps replicas of it; back that up by Kafka's own tools. 'mezzotint log backup' is for the embedded log."
            )
        }
        let folders = ChosenStore.site(settings).folders
        if arguments.flag("json") {
            Output.object { json in
                json.field("file", file)
                json.field("bytes", bytes)
                for folder in folders {
                    json.key(named: folder.name)
                    json.string(folder.path)
                }
            }
        } else {
            Console.print("Wrote \(file), \(bytes) bytes. A whole backup has these, too, copied after the log:")
            Console.write(
                TextTable.text(
                    folders.map { [$0.name, $0.path, $0.note] } + [
                        ["settings", "", "the configuration file and the files of secrets that it names"]
                    ]))
            Console.print(
                "Indexes are rebuilt from the log. To restore: stop workers and publishers, move \(settings.logDirectory) away, make the folder again (mode 0700, owned by the workers' user), and copy the backup to \(settings.logDirectory)/log.sqlite."
            )
        }
        return .success
    }
}
