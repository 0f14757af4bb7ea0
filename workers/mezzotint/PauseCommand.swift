internal import Clocks
import CommandLine
internal import ImageModel
import JSONText
import LogChoice
import Ports
import Posix
internal import Records
import Settings

/// `mezzotint pause` and `resume`: controls that hold back the jobs of a lane, of a host, or all.
enum PauseCommand {
    static let pause = command(
        .pause, abstract: "Hold back the jobs of a lane or a host, or all jobs.",
        examples: [
            "mezzotint pause --host img.example --for 2h --why 'the host asked for it'", "mezzotint pause --all",
        ],
        more: [Option("for", value: "duration", help: "Duration of the pause, up to 24h (default: 30m).")])
    static let resume = command(
        .resume, abstract: "End pauses of a lane, of a host, or all pauses.", examples: ["mezzotint resume --all"])

    private static func command(
        _ verb: Control.Verb, abstract: String, examples: [String], more: [Option] = []
    ) -> Command {
        Command(
            verb.rawValue, abstract: abstract, examples: examples,
            options: [
                Option("lane", value: "lane", help: "This lane.", oneOf: Lane.allCases.map(\.rawValue)),
                Option("host", value: "host", help: "This host, with or without scheme, or a group of origins.groups."),
                Option(flag: "all", help: verb == .pause ? "All jobs." : "Every pause."),
            ] + more + ControlRequest.notes + [.json], run: { try await run(verb, $0) })
    }

    private static func run(_ verb: Control.Verb, _ arguments: ParsedArguments) async throws -> ExitCode {
        let settings = try Settings.loaded(arguments, inspect: { ChosenLog.problems(of: $0) + $0.jobs.problems })
            .settings
        var control = try ControlRequest.pause(verb, arguments)
        let time = verb == .pause ? try arguments.duration("for", upTo: Pause.longest) ?? Pause.usual : nil
        return try await LogAccess.changing(arguments) { log in
            let (pauses, isWhole) = await log.pauses()
            let active = pauses.filter { control.scope == .all || $0.scope == control.pauseScope }
            control.until = time.map { SystemTime.wall + $0 }
            try await ControlCommand.write([control], nil, settings.jobKeys, to: log)
            show(control, active, isWhole, json: arguments.flag("json"))
            return .success
        }
    }

    /// - Parameters:
    ///   - active: pauses that it ends or replaces.
    ///   - isWhole: whether the pauses of all partitions are known.
    private static func show(_ control: Control, _ active: [Pause], _ isWhole: Bool, json: Bool) {
        if json {
            return Output.object { json in
                json.field("control", control.id)
                json.field("kind", control.verb.rawValue)
                json.key("named")
                ControlSubject(control.scope).write(to: &json)
                json.field("until", control.until.map { Timestamp.text($0) })
                json.field("active", active.count)
            }
        }
        let subject = ControlSubject(control.scope)
        let until = control.until.map { " until \(Timestamp.text($0))" } ?? ""
        Console.print("\(control.id) \(control.verb.rawValue) \(subject)\(until).")
        for pause in active {
            Console.print(
                "\(control.verb == .pause ? "Replaces" : "Ends") the pause of \(pause.scope) until \(Timestamp.text(pause.until)) by \(pause.by ?? "an unknown author")."
            )
        }
        if control.verb == .resume, active.isEmpty {
            Console.print(
                "No such pause is \(isWhole ? "active" : "known"). The control is written, too: a pause may be on its way.")
        }
        Console.print("'mezzotint control list' shows the results.")
    }
}

extension Log {
    /// Active pauses in any partition, each once, as the owners' newest progress rows name them; and whether each partition
    /// had such a row. A partition without a leader stops no command.
    func pauses() async -> (active: [Pause], isWhole: Bool) {
        var (pauses, isWhole): ([Pause], Bool) = ([], true)
        for partition in partitions {
            guard let row = try? await newestProgress(of: partition) else {
                isWhole = false
                continue
            }
            pauses += row.pauses
        }
        return (Pause.active(pauses, at: SystemTime.wall), isWhole)
    }
}
