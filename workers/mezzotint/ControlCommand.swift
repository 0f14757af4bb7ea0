internal import Canonical
internal import Clocks
import CommandLine
internal import ImageModel
import JSONText
import LogChoice
import Ports
import Posix
internal import Records
import Settings

/// `mezzotint promote`, `demote` and `cancel`: controls, with the number of jobs that each is about.
enum ControlCommand {
    static let promote = command(
        .promote, abstract: "Move waiting and running jobs to the fast lane.",
        examples: ["mezzotint promote https://a.example/b.jpg"])
    static let demote = command(
        .demote, abstract: "Move waiting and running jobs to the slow lane.",
        examples: ["mezzotint demote --host img.example --lane fast"])
    static let cancel = command(
        .cancel, abstract: "Cancel waiting and running jobs.",
        examples: ["mezzotint cancel --host img.example --before 2h --dry-run"],
        more: [Option("yes", value: "count", help: "Confirms a filter that names over \(unconfirmed) jobs.")])

    /// Most jobs that a filter cancels without `--yes`.
    private static let unconfirmed = 100
    /// Records appended at once.
    private static let batch = 1_000

    private static func command(
        _ verb: Control.Verb, abstract: String, examples: [String], more: [Option] = []
    ) -> Command {
        Command(
            verb.rawValue, abstract: abstract, examples: examples,
            arguments: [
                Argument("url", help: "All jobs of these sources.", isOptional: true, isRepeating: true)
            ],
            options: ControlRequest.options + more + [
                Option(flag: "dry-run", help: "Count the jobs, and write nothing."),
                Option(flag: "no-scan", help: "Count no unread jobs: a large backlog takes minutes."), .json,
            ], run: { try await run(verb, $0) })
    }

    private static func run(_ verb: Control.Verb, _ arguments: ParsedArguments) async throws -> ExitCode {
        let settings = try Settings.loaded(arguments, inspect: { ChosenLog.problems(of: $0) + $0.jobs.problems })
            .settings
        let request = try ControlRequest(verb, arguments, settings.canonicalRules)
        let confirmed = verb == .cancel ? try arguments.number("yes", in: 0...Int.max) : nil
        let isDry = arguments.flag("dry-run")
        let access = isDry ? LogAccess.reading : LogAccess.changing
        return try await access(arguments) { log in
            let ends = try await LaneEnds(log)
            var count = ControlCount(
                request.controls, in: log, intake: Intake(rules: settings.canonicalRules),
                scans: !arguments.flag("no-scan"))
            try await count.run(ends)
            let refusal = verb == .cancel && request.isFilter && !isDry ? refusal(of: count, confirmed) : nil
            let writes = !isDry && refusal == nil
            if writes { try await write(request.controls, ends, settings.jobKeys, to: log) }
            show(request.controls, count, isWritten: writes, json: arguments.flag("json"))
            if let refusal { throw refusal }
            return .success
        }
    }

    /// The reason why a filter's jobs are not cancelled; nil: they are.
    ///
    /// Jobs end while a person reads the count, so it may be a tenth lower than confirmed. It may not be higher.
    private static func refusal(of count: ControlCount, _ confirmed: Int?) -> UsageError? {
        let jobs = count.jobs.reduce(0) { $0 + $1.all }
        if count.isExact, jobs <= unconfirmed, confirmed == nil { return nil }
        if let confirmed, jobs <= confirmed, jobs >= confirmed - confirmed / 10 { return nil }
        let number = count.isExact ? "\(jobs)" : "at least \(jobs)"
        return UsageError(
            confirmed.map { "Nothing was cancelled: --yes has \($0), and there are \(number) jobs." }
                ?? "Nothing was cancelled. To cancel \(number) jobs, add --yes \(jobs).")
    }

    /// - Parameter ends: nil for controls that are about all jobs, whenever they are published.
    static func write(
        _ controls: [Control], _ ends: LaneEnds?, _ keys: JobKeys?, to log: any Log
    ) async throws {
        // Not the time when the command began: a count takes minutes, and a signed control is refused after ten.
        let now = SystemTime.wall
        let records = controls.flatMap { control in
            var control = control
            control.at = now
            return control.partitions(of: log).map { control.with(ends?[$0] ?? [:]).newRecord(partition: $0, signedBy: keys) }
        }
        for start in stride(from: 0, to: records.count, by: batch) {
            let results = await log.appendRepeating(Array(records[start..<min(start + batch, records.count)]))
            guard let failure = results.lazy.compactMap(\.failure).first else { continue }
            if start > 0 || results.contains(where: { $0.failure == nil }) {
                Console.complain(
                    "Some controls are written, and some are not: run the command again once the following problem is fixed.")
            }
            throw failure
        }
    }

    private static func show(_ controls: [Control], _ count: ControlCount, isWritten: Bool, json: Bool) {
        for (control, jobs) in zip(controls, count.jobs) {
            if json {
                Output.object { json in
                    json.field("control", control.id)
                    json.field("kind", control.verb.rawValue)
                    json.key("named")
                    ControlSubject(control.scope).write(to: &json)
                    json.field("running", jobs.running)
                    json.field("parked", jobs.parked)
                    json.field("unread", jobs.unread)
                    json.field("exact", count.isExact)
                    json.field("written", isWritten)
                }
            } else {
                Console.print(text(of: control, jobs, isExact: count.isExact, isWritten: isWritten))
            }
        }
        guard isWritten, !json else { return }
        if count.jobs.contains(where: { $0.all == 0 }) {
            Console.print("A control without jobs is written, too: a job that moves while it is counted may be missed.")
        }
        Console.print("'mezzotint control list' shows the results.")
    }

    private static func text(of control: Control, _ jobs: ControlCount.Jobs, isExact: Bool, isWritten: Bool) -> String {
        let subject = ControlSubject(control.scope)
        let head = "\(isWritten ? control.id + " " : "")\(control.verb.rawValue) \(subject): "
        if jobs.all == 0, isExact {
            return head + (subject.job.map { "no job '\($0)' waits or runs." } ?? "no such job waits or runs.")
        }
        return head + (isExact ? "" : "at least ")
            + "\(jobs.all) \(jobs.all == 1 ? "job" : "jobs") (\(jobs.running) running, \(jobs.parked) parked, \(jobs.unread) unread)."
    }
}
