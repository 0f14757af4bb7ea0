internal import Clocks
import CommandLine
internal import Failures
internal import ImageModel
import JSONText
import LogChoice
import Ports
import Posix
internal import Records
import Settings

/// `mezzotint parked`: jobs that wait, for a return to version 0.1.0.
enum ParkedCommand {
    static let command = Command(
        "parked", abstract: "Move jobs that wait to where version 0.1.0 finds them.",
        examples: ["mezzotint parked export --dry-run"], isHidden: true,
        subcommands: [
            Command(
                "export",
                abstract: "Move parked jobs to retry.1m, before 0.1.0 runs again. Stop all workers first.",
                examples: ["mezzotint parked export --dry-run", "mezzotint parked export --config config/kafka.yaml"],
                options: [Option(flag: "dry-run", help: "Write nothing; list the jobs that would be moved."), .json],
                run: export)
        ])

    private static func export(_ arguments: ParsedArguments) async throws -> ExitCode {
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        let (isDry, isJSON) = (arguments.flag("dry-run"), arguments.flag("json"))
        return try await LogAccess.changing(arguments) { log in
            try await LogAccess.requireNoWorker(settings)
            var exported: [ExportedPartition] = []
            for partition in log.partitions {
                var one = ExportedPartition(partition)
                try await one.run(in: log, writes: !isDry) { row in
                    guard isDry, !isJSON else { return }
                    let note = row.note
                    Console.print(
                        "\(partition) \(note.job) \(note.lane.rawValue) \(Timestamp.text(note.notBefore)) \(note.cause.code)")
                }
                exported.append(one)
            }
            show(exported, isDry: isDry, json: isJSON)
            return exported.allSatisfy { $0.unreadable == 0 } ? .success : .failure
        }
    }

    private static func show(_ exported: [ExportedPartition], isDry: Bool, json: Bool) {
        if json {
            Output.array(exported) { json, one in
                json.field("partition", Int(one.partition.number))
                json.field("jobs", one.jobs)
                json.field("ended", one.ended)
                json.field("unreadable", one.unreadable)
            }
        } else {
            Console.print(
                "\(exported.reduce(0) { $0 + $1.jobs }) jobs \(isDry ? "would be" : "were") moved to \(Topic.retry1m.rawValue)."
            )
        }
        for one in exported where one.unreadable > 0 {
            Console.complain(
                "Partition \(one.partition): rows of \(Topic.parked.rawValue) that cannot be read and stay there: \(one.unreadable). A worker logs why."
            )
        }
    }
}
