import CommandLine
import JSONText
import KafkaLog
internal import KafkaSetup
import LogChoice
import Settings

/// `mezzotint topics`: creates, checks and restores the topics of a cluster.
enum TopicsCommand {
    static let command = Command(
        "topics", abstract: "Create and check the topics of a Kafka cluster.",
        examples: ["mezzotint topics check --config config/kafka.yaml"],
        subcommands: [
            Command(
                "create", abstract: "Create the missing topics.",
                examples: ["mezzotint topics create --partitions 24 --replication 3"],
                options: [
                    Option("partitions", value: "number", help: "Partitions per topic (default: kafka.partitions)."),
                    Option(
                        "replication", value: "number",
                        help: "Replication factor (default: 3, or the number of brokers if smaller)."),
                    .json,
                ], run: create),
            Command(
                "check", abstract: "Verify the topics' configuration, and list every mismatch.",
                examples: ["mezzotint topics check --json"], options: [.json], run: check),
            Command(
                "restore", abstract: "Publish rows of a recreated variants or parked again, from indexes.",
                examples: [
                    "mezzotint topics restore --dry-run",
                    "mezzotint topics restore --index /srv/a/index --index /srv/b/index",
                ],
                options: [
                    Option(
                        "index", value: "folder",
                        help:
                            "A folder with index files, searched with the folders below it (default: those of data); repeatable."
                    ),
                    Option(flag: "allow-missing", help: "Let partitions continue though no index holds their rows."),
                    Option(flag: "dry-run", help: "Write nothing; show what would be published."), .json,
                ], run: restore),
        ])

    private static func create(_ arguments: ParsedArguments) async throws -> ExitCode {
        let configuration = try configuration(arguments)
        let partitions = try arguments.number("partitions", in: 1...1024)
        let replication = try arguments.number("replication", in: 1...100)
        return try await show(arguments, configuration) {
            let made = try await KafkaTopics.create(configuration, partitions: partitions, replication: replication)
            if !arguments.flag("json") { Console.print(made.text ?? "No topic was missing.") }
            return made.problems
        }
    }

    private static func check(_ arguments: ParsedArguments) async throws -> ExitCode {
        let configuration = try configuration(arguments)
        return try await show(arguments, configuration) { try await KafkaTopics.check(configuration) }
    }

    private static func show(
        _ arguments: ParsedArguments, _ configuration: KafkaConfiguration, _ ask: () async throws -> [String]
    ) async throws -> ExitCode {
        let problems: [String]
        do { problems = try await ask() } catch {
            // A script gets one array, even after a failure.
            guard arguments.flag("json") else { throw error }
            problems = ["\(error)"]
        }
        if arguments.flag("json") {
            Output.array(problems) { json, problem in json.field("message", problem) }
        } else if problems.isEmpty {
            Console.print("The topics \(configuration.prefix)* at \(configuration.bootstrap) are as they must be.")
        } else {
            for problem in problems { Console.complain(problem) }
            Console.complain(
                "'mezzotint topics create' creates missing topics. Change existing topics with Kafka's own tools.")
        }
        return problems.isEmpty ? .success : .failure
    }

    private static func configuration(_ arguments: ParsedArguments) throws -> KafkaConfiguration {
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        guard let configuration = settings.kafkaConfiguration
        else {
            throw CommandFailure(
                "The embedded log creates its topics itself. For the topics of a cluster, set kafka.bootstrap, as config/kafka.yaml does."
            )
        }
        return configuration
    }
}
