internal import Canonical
internal import Clocks
import CommandLine
import Glibc
internal import ImageModel
import JSONText
import LogChoice
import Ports
internal import Records
import Settings
internal import VariantSpec

/// `mezzotint publish`: publishes jobs from arguments, or from the lines of standard input.
enum PublishCommand {
    static let command = Command(
        "publish", abstract: "Append jobs to a lane, and print their ids.",
        examples: [
            "mezzotint publish --variants 640x480-q80.webp https://a.example/b.jpg",
            "mezzotint publish --lane slow --json - < jobs.ndjson",
            "mezzotint publish --wait --variants 80y80.jpg https://a.example/b.jpg",
        ],
        arguments: [
            Argument(
                "url",
                help: "URLs to process. With - or no URL, one URL or JSON job per line of standard input.",
                isOptional: true, isRepeating: true)
        ],
        options: [
            Option(
                "lane", value: "lane", help: "Lane of jobs that name none: \(Lane.names) (default: fast).",
                oneOf: Lane.allCases.map(\.rawValue)),
            Option("variants", value: "specs", help: "Comma-separated variants of jobs that name none."),
            Option(flag: "wait", help: "Print each outcome; status 1 if a job did not succeed."),
            Option("timeout", value: "duration", help: "How long --wait waits at the end (\(Output.age(usualWait)))."),
            .json,
        ],
        run: run)

    /// Bytes of a piece: enough for a good batch, and the most that a pipe holds.
    private static let pieceBytes = 256 << 10

    private static let usualWait = Duration.minutes(10)

    private static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
        let waits = arguments.flag("wait")
        if !waits, arguments.value("timeout") != nil { throw UsageError("--timeout requires --wait.") }
        let timeout = try arguments.duration("timeout", upTo: .hours(24)) ?? usualWait
        let settings = try Settings.loaded(arguments, inspect: { ChosenLog.problems(of: $0) + $0.jobs.problems })
            .settings
        let rules = settings.canonicalRules
        let variants = try specs(arguments.value("variants"), rules)
        let inputs = arguments.positionals.isEmpty ? ["-"] : arguments.positionals
        if arguments.positionals.isEmpty && StandardInput.isTerminal {
            throw UsageError("Give URLs, or - to type them line by line.")
        }
        if let file = inputs.first(where: isFile) {
            throw UsageError("\(file) is a file. To read jobs from it, run 'mezzotint publish - < \(file)'.")
        }
        let lane = arguments.value("lane").flatMap { Lane(rawValue: $0) } ?? .fast
        return try await LogAccess.using(try await ChosenLog.publishing(settings)) { log in
            let isJSON = arguments.flag("json")
            var ids: [String] = []
            var outcomes = waits ? try await OutcomeWait(in: log) : nil
            var publisher = Publisher(log, rules, settings.jobKeys, lane: lane, variants: variants) { id in
                if isJSON || waits { ids.append(id) } else { Console.print(id) }
            }
            var failure: (any Error)?
            do { try await publish(inputs, by: &publisher) } catch { failure = error }
            if publisher.unprinted > 0 {
                Console.complain("More lines are refused: \(publisher.unprinted). Check that the input is text.")
            }
            if failure == nil, inputs == ["-"], publisher.accepted + publisher.rejected == 0 {
                Console.complain("Nothing was read from standard input.")
            }
            var unsuccessful = 0
            if failure == nil, outcomes != nil {
                let lines = OutcomeLines(isJSON: isJSON, hidden: rules.hidden)
                for id in ids { outcomes?.add(id) }
                try await outcomes?.run(for: timeout) { record, report in
                    lines.write(record, report)
                    if !report.kind.isSuccess { unsuccessful += 1 }
                }
            }
            if isJSON {
                Output.object { json in
                    json.field("accepted", publisher.accepted)
                    json.field("rejected", publisher.rejected)
                    // Each outcome names its job.
                    guard !waits || failure != nil else { return }
                    json.array("ids", ids) { $0.string($1) }
                }
            } else {
                if waits, failure != nil { for id in ids { Console.print(id) } }
                Console.print("Accepted \(publisher.accepted), rejected \(publisher.rejected).")
            }
            if let failure { throw failure }
            if let outcomes, outcomes.left > 0 {
                let jobs = outcomes.missing(namedJobs).joined(separator: ", ")
                let more = outcomes.left > namedJobs ? ", …" : ""
                Console.complain(
                    "\(outcomes.left) of \(publisher.accepted) jobs have no outcome after \(Output.age(timeout)): \(jobs)\(more). They stay published: 'mezzotint outcomes --job ID' shows where they are."
                )
                unsuccessful += outcomes.left
            }
            return publisher.rejected + unsuccessful == 0 ? .success : .failure
        }
    }

    /// Most jobs that the message on missing outcomes names.
    private static let namedJobs = 10

    /// Whether an argument names a file; a name without a scheme is no URL.
    private static func isFile(_ input: String) -> Bool {
        var facts = stat()
        return input != "-" && !input.contains("://") && stat(input, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
    }

    private static func publish(_ inputs: [String], by publisher: inout Publisher) async throws {
        for (index, input) in inputs.enumerated() {
            guard input == "-" else {
                publisher.take(.text(Array(input.utf8)), at: "argument \(index + 1)")
                continue
            }
            var splitter = LineSplitter(limit: RecordLimits.jobBytes)
            var number = 0
            while case let piece = try StandardInput.next(atMost: pieceBytes), !piece.isEmpty {
                for line in splitter.feed(piece[...]) {
                    number += 1
                    publisher.take(line, at: "line \(number)")
                }
                // A slow producer's jobs do not wait for a full batch.
                try await publisher.flush()
            }
            if let line = splitter.finish() { publisher.take(line, at: "line \(number + 1)") }
        }
        try await publisher.flush()
    }

    private static func specs(_ text: String?, _ rules: CanonicalRules) throws(UsageError) -> [VariantSpec] {
        var specs: [VariantSpec] = []
        for word in text?.split(whereSeparator: { $0 == "," || $0 == " " }) ?? [] {
            do throws(CanonicalFailure) { specs.append(try rules.spec(of: String(word))) } catch {
                throw UsageError("\(error)")
            }
        }
        if text != nil && specs.isEmpty { throw UsageError("--variants needs a spec, such as 640x480-q80.webp.") }
        return specs
    }
}
