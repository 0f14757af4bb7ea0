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
internal import VariantSpec

/// `mezzotint outcomes`: the outcome of a job, of the jobs of a source, or of all jobs, read from the log.
enum OutcomesCommand {
    static let command = Command(
        "outcomes", abstract: "Show what became of jobs: one, a source's, or all.",
        examples: [
            "mezzotint outcomes --job 8f3c21-1", "mezzotint outcomes --json --url https://a.example/b.jpg",
            "mezzotint outcomes --failed --follow",
        ],
        options: [
            Option("job", value: "id", help: "A job, by the id that publish printed or that you gave it."),
            Option("url", value: "url", help: "All jobs of a source; it reads one partition, --job all of them."),
            Option(
                flag: "failed", help: "One line for each outcome that is failed, dead or expired, oldest first."),
            Option(flag: "follow", help: "One line for each outcome, also of later ones, until interrupted."),
            .json,
        ], run: run)

    private static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
        let rules = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings.canonicalRules
        let subject: OutcomeSearch.Subject?
        switch (arguments.value("job"), arguments.value("url")) {
        case (let job?, nil): subject = .job(job)
        case (nil, let url?): subject = .source(try rules.source(of: url).key)
        case (nil, nil): subject = nil
        default: throw UsageError("Give either --job ID or --url URL.")
        }
        guard let subject, !arguments.flag("failed"), !arguments.flag("follow") else {
            return try await list(subject, arguments, OutcomeLines(isJSON: arguments.flag("json"), hidden: rules.hidden))
        }
        return try await LogAccess.reading(arguments) { log in
            var lookup = OutcomeLookup(subject, in: log, intake: Intake(rules: rules))
            try await lookup.run()
            let report = OutcomesReport(
                ended: lookup.ended, pending: lookup.pending, outcomesSince: lookup.outcomesSince,
                unseen: await lookup.unseen(), hidden: rules.hidden)
            if arguments.flag("json") { report.writeJSON() } else { report.writeText() }
            guard lookup.ended.isEmpty else { return .success }
            Console.complain(report.absence(of: arguments.value("job").map { "job '\($0)'" } ?? "job for this URL"))
            return .failure
        }
    }
}

/// Search results, for people and for scripts.
struct OutcomesReport {
    let ended: [OutcomeSearch.Ended]
    let pending: [OutcomeSearch.Pending]
    let outcomesSince: WallTime?
    /// Unseen records; nil if nothing is hidden, or a job was found.
    let unseen: UnseenRecords?
    let hidden: HiddenParameters

    /// `ended`, `pending` or `unknown`: the state of the newest job, as far as the log shows it.
    private var state: StaticString { !pending.isEmpty ? "pending" : ended.isEmpty ? "unknown" : "ended" }

    /// Fields may be added; none is left out.
    func writeJSON() {
        let now = SystemTime.wall
        Output.object { json in
            json.field("state", "\(state)")
            json.objects("outcomes", ended) { write($1, to: &$0) }
            json.objects("pending", pending) { $1.write(to: &$0, hiding: hidden, at: now) }
            json.field("outcomesSince", outcomesSince.map { Timestamp.text($0) })
        }
    }

    private func write(_ end: OutcomeSearch.Ended, to json: inout JSONWriter) {
        let report = end.report
        json.field("job", report.job)
        json.field("kind", report.kind.rawValue)
        json.field("code", report.failure?.code)
        json.field("message", report.failure.map { hidden.hide(in: $0.message) })
        json.field("url", shown(report))
        json.field("source", report.source?.hex)
        json.field("lane", end.lane?.rawValue)
        json.field("attempts", end.attempts)
        json.field("at", Timestamp.text(report.at))
        json.field("throttledBy", report.throttledBy?.rawValue)
        json.objects("variants", report.variants) { json, variant in
            json.field("spec", "\(variant.spec)")
            json.field("kind", variant.kind.rawValue)
            json.field("width", variant.size?.width)
            json.field("height", variant.size?.height)
            json.field("bytes", variant.bytes)
            json.field("derivedFrom", variant.derivedFrom.map { VariantsCommand.text($0) })
            // As in the outcome itself, which omits it otherwise.
            if variant.isFromKept {
                json.key("keptOriginal")
                json.boolean(true)
            }
            json.field("location", variant.location)
            json.field("code", variant.failure?.code)
            json.field("message", variant.failure.map { hidden.hide(in: $0.message) })
        }
        json.field("omitted", report.omitted)
        json.key("deadLetter")
        json.boolean(end.hasDeadLetter)
        json.field("replayedAs", end.replayedAs)
        json.field("replays", report.replays)
    }

    func writeText() {
        let now = SystemTime.wall
        if ended.count == 1 {
            Console.write(details(of: ended[0]))
        } else if !ended.isEmpty {
            let rows = ended.map { end in
                [
                    Output.age(of: end.report.at, at: now), end.report.job, end.report.kind.rawValue,
                    end.report.failure?.code ?? "", end.report.failure.map { hidden.hide(in: $0.message) } ?? "",
                ]
            }
            Console.write(TextTable.text(["AGE", "JOB", "OUTCOME", "CODE", "MESSAGE"], rows))
            Console.print("\n'mezzotint outcomes --job ID' shows one of them with its variants.")
        }
        guard !pending.isEmpty else { return }
        Console.write((ended.isEmpty ? "" : "\n") + Self.table(of: pending, hiding: hidden, at: now))
    }

    static func table(of pending: [OutcomeSearch.Pending], hiding hidden: HiddenParameters, at now: WallTime) -> String {
        let rows = pending.map { job in
            [
                job.job, job.place == .lane ? job.topic.rawValue : job.place.rawValue, job.lane.rawValue,
                Output.age(of: job.since, at: now), "\(job.attempts)",
                job.until(at: now).map { Timestamp.text($0) } ?? "", job.code ?? "",
                job.message.map { hidden.hide(in: $0) } ?? "",
            ]
        }
        return TextTable.text(["PENDING JOB", "PLACE", "LANE", "AGE", "ATTEMPTS", "UNTIL", "CODE", "MESSAGE"], rows)
    }

    /// Quotes a word for a shell, because a publisher chose it.
    private func shellWord(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-:/@%+=,".contains($0)) }
        return isPlain
            ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private func details(of end: OutcomeSearch.Ended) -> String {
        let report = end.report
        var rows = [["job", report.job], ["outcome", report.kind.rawValue]]
        if let failure = report.failure {
            rows += [["code", failure.code], ["message", hidden.hide(in: failure.message)]]
        }
        rows += [
            ["url", shown(report)], ["lane", end.lane?.rawValue ?? "-"],
            ["attempts", end.attempts.map { "\($0)" } ?? "-"],
            ["at", Timestamp.text(report.at)],
        ]
        if end.hasDeadLetter { rows.append(["dead letter", "mezzotint dead show \(shellWord(report.job))"]) }
        if report.replays > 0 { rows.append(["replay", "\(report.replays)"]) }
        if let job = end.replayedAs {
            rows.append(["published again", job == report.job ? "yes" : "mezzotint outcomes --job \(shellWord(job))"])
        }
        let variants = report.variants.map { variant in
            [
                "\(variant.spec)", variant.kind.rawValue, variant.size?.description ?? "",
                variant.bytes.map { "\($0)" } ?? "",
                variant.derivedFrom.map { VariantsCommand.text($0, isFromKept: variant.isFromKept) } ?? "",
                variant.location ?? variant.failure.map { "\($0.code): \(hidden.hide(in: $0.message))" } ?? "",
            ]
        }
        let table = TextTable.text(["SPEC", "OUTCOME", "SIZE", "BYTES", "MADE FROM", "LOCATION"], variants)
        return TextTable.text(rows) + (variants.isEmpty ? "" : "\n" + table)
    }

    private func shown(_ report: OutcomeReport) -> String { ShownURL(report.url, hiding: hidden).description }

    /// The reason why no outcome was found, as far as the log shows it.
    func absence(of subject: String) -> String {
        if let job = pending.last {
            let why = job.code.map {
                RetryCause.Code(rawValue: $0) == nil ? ", its last attempt failed (\($0))" : ", it waits (\($0))"
            }
            return
                "The \(subject) is pending in \(job.topic.rawValue): no outcome yet\(why ?? ""). 'mezzotint lag' shows the backlog."
        }
        if let unseen {
            let old = outcomesSince.map {
                " Or it ended before \(Timestamp.text($0)), and older outcomes are no longer kept or were not read."
            }
            return
                "There is no \(subject) among the records that can be read. \(unseen.text) The job may be one of them: see 'mezzotint lag'.\(old ?? "")"
        }
        if let outcomesSince {
            return
                "The \(subject) has no outcome here and is not pending: it was never published to this log, or it ended before \(Timestamp.text(outcomesSince)), and older outcomes are no longer kept or were not read."
        }
        return
            "There is no \(subject) in this log: it was never published here. Check the id or URL, and that --config and --set name the same log as for publish."
    }
}

extension OutcomeSearch.Pending {
    /// Time before which the job does not start; nil if it may start now.
    func until(at now: WallTime) -> WallTime? { due.flatMap { $0 > now ? $0 : nil } }

    func write(to json: inout JSONWriter, hiding hidden: HiddenParameters, at now: WallTime) {
        json.field("job", job)
        json.field("topic", topic.rawValue)
        json.field("place", place.rawValue)
        json.field("lane", lane.rawValue)
        json.field("since", Timestamp.text(since))
        json.field("attempts", attempts)
        json.field("until", until(at: now).map { Timestamp.text($0) })
        json.field("code", code)
        json.field("message", message.map { hidden.hide(in: $0) })
    }
}
