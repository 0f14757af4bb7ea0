internal import Canonical
import CommandLine
import Digest
internal import Failures
internal import ImageModel
import JSONText
import LogChoice
import Ports
import Posix
internal import Records
import Settings

/// `mezzotint dead`: the dead letters.
enum DeadCommand {
    static let command = Command(
        "dead", abstract: "List, show, replay and discard dead letters.",
        examples: ["mezzotint dead list"],
        subcommands: [
            Command(
                "list", abstract: "List the dead letters, oldest first.",
                examples: ["mezzotint dead list --json", "mezzotint dead list --host img.example --since 2h"],
                options: filters + [.json], run: list),
            Command(
                "show", abstract: "Show one dead letter with its original bytes.",
                examples: ["mezzotint dead show jobs.fast-3-17"], arguments: [Argument("id", help: "As listed.")],
                options: [.json], run: show),
            replay,
            Command(
                "discard",
                abstract: "Discard dead letters. Their records stay in the topic until retention removes them.",
                examples: ["mezzotint dead discard jobs.fast-3-17", "mezzotint dead discard --all"],
                arguments: [Argument("id", help: "As listed.", isOptional: true, isRepeating: true)],
                options: [Option(flag: "all", help: "Discard every dead letter."), .json], run: discard),
        ])

    private static func list(_ arguments: ParsedArguments) async throws -> ExitCode {
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        let (rules, groups) = (settings.canonicalRules, settings.originGroups)
        let filter = try filter(arguments, groups: groups)
        return try await LogAccess.reading(arguments) { log in
            let deadLetters = try await standing(in: log).filter { filter?.passes($0.deadLetter, groups: groups) ?? true }
                .map { shown($0.deadLetter, by: rules) }
            if arguments.flag("json") {
                Output.array(deadLetters) { json, deadLetter in
                    write(&json, deadLetter)
                    json.field("host", deadLetter.url.map { groups.origin(of: $0.description).description })
                    json.field("lane", deadLetter.lane.rawValue)
                    json.field("replays", deadLetter.replays)
                }
            } else if deadLetters.isEmpty {
                Console.print(filter == nil ? "There are no dead letters." : "No dead letter matches.")
            } else {
                let now = SystemTime.wall
                let rows = deadLetters.map {
                    [
                        $0.id, $0.cause.code, "\($0.attempts)", Output.age(of: $0.at, at: now),
                        $0.url?.description ?? "",
                        $0.cause.message,
                    ]
                }
                Console.write(TextTable.text(["ID", "CODE", "ATTEMPTS", "AGE", "URL", "MESSAGE"], rows))
                if deadLetters.count > 1 { Console.print("\n" + summary(deadLetters)) }
            }
            return .success
        }
    }

    /// Summary such as `878 dead letters: job.not-json 875, render.crashed 3.`
    private static func summary(_ deadLetters: [DeadLetter]) -> String {
        let counts = Dictionary(grouping: deadLetters, by: \.cause.code).mapValues(\.count)
        let parts = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }
        return "\(deadLetters.count) dead letters: \(parts.joined(separator: ", "))."
    }

    /// Dead letters of older workers contain URLs as they were received.
    private static func shown(_ deadLetter: DeadLetter, by rules: CanonicalRules) -> DeadLetter {
        var deadLetter = deadLetter
        deadLetter.url = deadLetter.url.map { ShownURL($0.description, hiding: rules.hidden) }
        deadLetter.cause = FailureNote(
            code: deadLetter.cause.code, message: rules.hidden.hide(in: deadLetter.cause.message),
            verdict: deadLetter.cause.verdict
        )
        return deadLetter
    }

    private static func write(_ json: inout JSONWriter, _ deadLetter: DeadLetter) {
        json.field("id", deadLetter.id)
        json.field("code", deadLetter.cause.code)
        json.field("message", deadLetter.cause.message)
        json.field("attempts", deadLetter.attempts)
        json.field("url", deadLetter.url?.description)
        json.field("at", Timestamp.text(deadLetter.at))
    }

    private static func show(_ arguments: ParsedArguments) async throws -> ExitCode {
        let rules = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings.canonicalRules
        return try await LogAccess.reading(arguments) { log in
            let id = arguments.positionals[0]
            guard
                let deadLetter = try await standing(in: log).first(where: { $0.deadLetter.id == id }).map({
                    shown($0.deadLetter, by: rules)
                })
            else { throw CommandFailure(try await absences(of: [id], in: log)[0]) }
            if arguments.flag("json") {
                Output.object { json in
                    write(&json, deadLetter)
                    json.field("replays", deadLetter.replays)
                    json.field("origin", deadLetter.origin.description)
                    json.field("bytes", deadLetter.whole?.bytes ?? deadLetter.body.count)
                    json.field("sha256", deadLetter.whole?.digest.hex)
                    json.field("body", String(decoding: deadLetter.body, as: UTF8.self))
                    json.field("key", String(decoding: deadLetter.key, as: UTF8.self))
                    json.field("keyBytes", deadLetter.wholeKey?.bytes ?? deadLetter.key.count)
                    json.field("keySha256", deadLetter.wholeKey?.digest.hex)
                }
            } else {
                let size = deadLetter.whole.map {
                    "the first \(deadLetter.body.count) of \($0.bytes) bytes, SHA-256 \($0.digest.hex)"
                }
                let key = deadLetter.wholeKey.map {
                    "the first \(RecordLimits.keptKeyPrefix) of \($0.bytes) bytes are kept, SHA-256 \($0.digest.hex)"
                }
                let rows = [
                    ["id", deadLetter.id], ["code", deadLetter.cause.code], ["message", deadLetter.cause.message],
                    ["attempts", "\(deadLetter.attempts)"], ["replays", "\(deadLetter.replays)"],
                    ["url", deadLetter.url?.description ?? "-"],
                    ["dead since", Timestamp.text(deadLetter.at)], ["came as", "\(deadLetter.origin)"],
                    ["body", size ?? "\(deadLetter.body.count) bytes"],
                ]
                Console.write(TextTable.text(rows + (key.map { [["key", $0]] } ?? [])))
                Console.print("\n" + quoted(deadLetter.body))
            }
            return .success
        }
    }

    /// The beginning of a record for people, each line marked, so that no line looks like one of ours.
    private static func quoted(_ body: [UInt8]) -> String {
        let lines = String(decoding: body.prefix(shownBytes), as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        let more = body.count - shownBytes
        return lines.map { "| \($0)" }.joined(separator: "\n")
            + (more > 0 ? "\n\(more) bytes more: 'mezzotint dead show --json' has them." : "")
    }

    private static let shownBytes = 4 << 10

    private static func discard(_ arguments: ParsedArguments) async throws -> ExitCode {
        guard arguments.flag("all") != !arguments.positionals.isEmpty else {
            throw UsageError("Name the dead letters to discard, or give --all.")
        }
        return try await LogAccess.changing(arguments) { log in
            let standing = try await standing(in: log)
            let wanted = arguments.flag("all") ? standing.map(\.deadLetter.id) : arguments.positionals
            let found = standing.filter { wanted.contains($0.deadLetter.id) }
            let now = SystemTime.wall
            let results = await log.append(found.map { $0.deadLetter.discard(partition: $0.partition, at: now) })
            if let failure = results.lazy.compactMap(\.failure).first { throw failure }
            let missing = wanted.filter { id in !found.contains { $0.deadLetter.id == id } }
            for text in try await absences(of: missing, in: log) { Console.complain(text) }
            if arguments.flag("json") {
                Output.object { $0.field("discarded", found.count) }
            } else {
                Console.print("Discarded \(found.count).")
            }
            return missing.isEmpty ? .success : .failure
        }
    }

    /// The reasons why these ids are not on the list, a sentence each.
    static func absences(of ids: [String], in log: any Log) async throws -> [String] {
        if ids.isEmpty { return [] }
        let discards = try await log.discards(ofDeadLetters: Set(ids))
        return ids.map { id in
            guard let discard = discards[id] else {
                return "No dead letter has the id '\(id)'. 'mezzotint dead list' lists them."
            }
            let time = Timestamp.text(discard.at)
            guard let job = discard.replayedAs else { return "The dead letter '\(id)' was discarded at \(time)." }
            return
                "The dead letter '\(id)' was replayed at \(time) as job '\(job)'. 'mezzotint outcomes --job ID' shows the outcome of that job."
        }
    }

    /// The dead letters that were not discarded, oldest first; unreadable ones are reported and left out.
    static func standing(in log: any Log) async throws -> [(deadLetter: DeadLetter, partition: PartitionID)] {
        var all: [(deadLetter: DeadLetter, partition: PartitionID)] = []
        for number in 0..<log.partitionCount {
            let partition = PartitionID(Int32(number))
            let (deadLetters, unreadable) = try await log.standingDeadLetters(in: partition)
            for failure in unreadable { Console.complain("\(failure)") }
            all += deadLetters.map { ($0, partition) }
        }
        return all.sorted { ($0.deadLetter.at, $0.deadLetter.id) < ($1.deadLetter.at, $1.deadLetter.id) }
    }
}
