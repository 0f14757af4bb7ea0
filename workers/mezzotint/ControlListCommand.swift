internal import Clocks
import CommandLine
internal import Failures
import JSONText
import LogChoice
import Ports
import Posix
internal import Records
import Settings

/// `mezzotint control`: the record of actions.
enum ControlListCommand {
    static let command = Command(
        "control", abstract: "Show the record of controls.",
        examples: ["mezzotint control list"],
        subcommands: [
            Command(
                "list", abstract: "List controls with their jobs, their authors and their results, oldest first.",
                examples: ["mezzotint control list --since 1d", "mezzotint control list --json"],
                options: [
                    Option("since", value: "time", help: "Only controls from this time on, or 2h ago."), .json,
                ], run: list)
        ])

    private static func list(_ arguments: ParsedArguments) async throws -> ExitCode {
        let rules = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings.canonicalRules
        let since = try arguments.time("since", at: SystemTime.wall)
        return try await LogAccess.reading(arguments) { log in
            var history = ControlHistory(rules)
            try await history.read(log)
            let entries = history.all.filter { $0.at >= since ?? .distantPast }
            if arguments.flag("json") {
                Output.array(entries, write)
            } else if entries.isEmpty {
                Console.print("The log holds no controls.")
            } else {
                let now = SystemTime.wall
                let rows = entries.map { entry in
                    [
                        Output.age(of: entry.at, at: now), entry.id, entry.verb?.rawValue ?? "-",
                        entry.named?.description ?? "-", result(of: entry, isWhole: history.arePausesKnown, at: now), entry.by ?? "", entry.why ?? "",
                    ]
                }
                Console.write(TextTable.text(["AGE", "CONTROL", "KIND", "NAMES", "RESULT", "BY", "WHY"], rows))
            }
            return .success
        }
    }

    /// - Parameter isWhole: whether the active pauses of all partitions are known.
    private static func result(of entry: ControlHistory.Entry, isWhole: Bool, at now: WallTime) -> String {
        let until = entry.until.map { " until \(Timestamp.text($0))" } ?? ""
        let isPausing = entry.verb?.action.isPausing ?? false
        let jobs = "\(entry.jobs) \(entry.jobs == 1 ? "job" : "jobs")"
        let refusal = entry.failure.map { " \($0.code): \($0.message)" } ?? ""
        return switch entry.state {
        case .waiting where isPausing: "waits in \(entry.waiting.count) of \(entry.partitions.count) partitions\(until)"
        case .waiting: "waits in \(entry.waiting.count) of \(entry.partitions.count) partitions, \(jobs) so far"
        case .active: "paused\(until)" + (refusal.isEmpty ? "" : "; refused elsewhere:\(refusal)")
        case .applied where entry.verb == .pause: (isWhole || entry.until.map { $0 <= now } ?? true ? "over" : "applied\(until)") + (refusal.isEmpty ? "" : "; refused elsewhere:\(refusal)")
        case .applied where isPausing: "ended a pause" + (refusal.isEmpty ? "" : "; refused elsewhere:\(refusal)")
        case .applied: "applied to \(jobs)" + (refusal.isEmpty ? "" : "; refused elsewhere:\(refusal)")
        case .unknown where isPausing: entry.verb == .pause ? "was over when it was read" : "no such pause was active"
        case .unknown: "no such job waited or ran"
        case .refused: "refused:\(refusal)"
        case .ended: "ended; its outcomes are no longer kept"
        }
    }

    private static func write(_ json: inout JSONWriter, _ entry: ControlHistory.Entry) {
        json.field("control", entry.id)
        json.field("kind", entry.verb?.rawValue)
        json.key("named")
        if let named = entry.named { named.write(to: &json) } else { json.null() }
        json.field("by", entry.by)
        json.field("why", entry.why)
        json.field("at", Timestamp.text(entry.at))
        json.field("state", entry.state.rawValue)
        json.field("partitions", entry.partitions.count)
        json.field("waiting", entry.waiting.count)
        json.field("jobs", entry.jobs)
        json.field("until", entry.until.map { Timestamp.text($0) })
        json.field("code", entry.failure?.code)
        json.field("message", entry.failure?.message)
    }
}
