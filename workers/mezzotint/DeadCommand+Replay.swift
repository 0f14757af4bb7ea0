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

extension DeadCommand {
    static let replay = Command(
        "replay",
        abstract: "Publish dead letters again under their ids; take them off the list.",
        examples: ["mezzotint dead replay --host img.example --ramp --rate 20"],
        arguments: [Argument("id", help: "As listed.", isOptional: true, isRepeating: true)],
        options: filters + [
            Option("limit", value: "number", help: "With a filter: at most this many, the oldest."),
            Option("rate", value: "number", help: "At most this many jobs a second."),
            Option(flag: "ramp", help: "In batches of 1, 10, 100, …; stops if a fifth fails."),
            Option(
                "timeout", value: "duration", help: "How long --ramp waits for a batch (\(Output.age(usualWait)))."),
            Option(
                "max-replays", value: "n", help: "Leave jobs that were replayed n times (\(DeadLetter.usualReplays))."),
            Option(flag: "dry-run", help: "Publish nothing; count the letters and the reasons."), .json,
        ], run: runReplay)

    static let usualWait = Duration.minutes(10)

    /// Letters that come while the replay runs are not part of it: it is bounded by the ends of `dead` at its start.
    private static func runReplay(_ arguments: ParsedArguments) async throws -> ExitCode {
        let ids = arguments.positionals
        let settings = try Settings.loaded(arguments, inspect: { ChosenLog.problems(of: $0) + $0.jobs.problems })
            .settings
        let groups = settings.originGroups
        let filter = try filter(arguments, groups: groups)
        if !ids.isEmpty, filter != nil {
            throw UsageError("Give either ids or a filter (--code, --host, --since, --until), not both.")
        }
        if ids.isEmpty, filter == nil {
            throw UsageError("Name the dead letters to replay, or give --code, --host, --since or --until.")
        }
        if filter == nil, arguments.value("limit") != nil {
            throw UsageError("--limit requires a filter, such as --code.")
        }
        if !arguments.flag("ramp"), arguments.value("timeout") != nil { throw UsageError("--timeout requires --ramp.") }
        let limit = try arguments.number("limit", in: 1...Int.max)
        let most = try arguments.number("max-replays", in: 1...1_000) ?? DeadLetter.usualReplays
        let rate = try arguments.number("rate", in: 1...1_000_000)
        let wait = try arguments.duration("timeout", upTo: .hours(24)) ?? usualWait
        let isDry = arguments.flag("dry-run")
        return try await (isDry ? LogAccess.reading : LogAccess.changing)(arguments) { log in
            let all = try await standing(in: log)
            let found = all.filter { filter?.passes($0.deadLetter, groups: groups) ?? ids.contains($0.deadLetter.id) }
            let wanted = Array(found.prefix(limit ?? found.count))
            let missing = ids.filter { id in !found.contains { $0.deadLetter.id == id } }
            if filter != nil, found.isEmpty {
                Console.complain("No dead letter matches. 'mezzotint dead list' lists them all.")
            }
            for text in try await absences(of: missing, in: log) { Console.complain(text) }
            let reasons = DeadLetterReasons(of: wanted.lazy.map(\.deadLetter), groups: groups)
            let isJSON = arguments.flag("json")
            if filter != nil, !isJSON, !wanted.isEmpty { show(reasons) }
            var replay = Replay(log, settings, wanted, most: most)
            var stop: String?
            if !isDry {
                stop = try await replay.run(rate: rate, ramp: arguments.flag("ramp") ? wait : nil) { deadLetter in
                    if !isJSON {
                        Console.print("\(deadLetter.id) → \(Outcome.id(of: deadLetter.id, replays: deadLetter.replays + 1))")
                    }
                }
            }
            report(replay, of: wanted.count, isDry: isDry, reasons, stop, json: isJSON)
            let isWhole = (isDry ? replay.ready.count : replay.done.count) == wanted.count
            return isWhole && missing.isEmpty && !wanted.isEmpty && stop == nil ? .success : .failure
        }
    }

    private static func report(
        _ replay: Replay, of wanted: Int, isDry: Bool, _ reasons: DeadLetterReasons, _ stop: String?, json: Bool
    ) {
        if let stop { Console.complain(stop) }
        let count = isDry ? replay.ready.count : replay.done.count
        guard json else {
            let rest = count < wanted ? " \(wanted - count) \(isDry ? "would stay" : "stay") on the list." : ""
            return Console.print("\(isDry ? "Would replay" : "Replayed") \(count).\(rest)")
        }
        Output.object { json in
            json.field("replayed", replay.done.count)
            json.field("left", wanted - replay.done.count)
            json.objects("ids", replay.done) { json, deadLetter in
                json.field("from", deadLetter.id)
                json.field("id", deadLetter.id)
                json.field("replays", deadLetter.replays + 1)
            }
            write(reasons, to: &json)
            json.field("stopped", stop)
            if isDry { json.field("wouldReplay", count) }
        }
    }
}
