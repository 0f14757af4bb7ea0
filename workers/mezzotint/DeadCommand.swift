internal import Canonical
import CommandLine
import Digest
internal import Failures
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
                "list", abstract: "List the dead letters, oldest first.", examples: ["mezzotint dead list --json"],
                options: [.json], run: list),
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
        let rules = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings.canonicalRules
        return try await LogAccess.reading(arguments) { log in
            let letters = try await standing(in: log).map { shown($0.letter, by: rules) }
            if arguments.flag("json") {
                Output.array(letters, write)
            } else if letters.isEmpty {
                Console.print("There are no dead letters.")
            } else {
                let now = SystemTime.wall
                let rows = letters.map {
                    [
                        $0.id, $0.cause.code, "\($0.attempts)", Output.age(of: $0.at, at: now),
                        $0.url?.description ?? "",
                        $0.cause.message,
                    ]
                }
                Console.write(TextTable.text(["ID", "CODE", "ATTEMPTS", "AGE", "URL", "MESSAGE"], rows))
                if letters.count > 1 { Console.print("\n" + summary(letters)) }
            }
            return .success
        }
    }

    /// Summary such as `878 dead letters: job.not-json 875, render.crashed 3.`
    private static func summary(_ letters: [DeadLetter]) -> String {
        let counts = Dictionary(grouping: letters, by: \.cause.code).mapValues(\.count)
        let parts = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }
        return "\(letters.count) dead letters: \(parts.joined(separator: ", "))."
    }

    /// Dead letters of older workers contain URLs as they were received.
    private static func shown(_ letter: DeadLetter, by rules: CanonicalRules) -> DeadLetter {
        var letter = letter
        letter.url = letter.url.map { ShownURL($0.description, hiding: rules.hidden) }
        letter.cause = FailureNote(
            code: letter.cause.code, message: rules.hidden.hide(in: letter.cause.message), verdict: letter.cause.verdict
        )
        return letter
    }

    private static func write(_ json: inout JSONWriter, _ letter: DeadLetter) {
        json.field("id", letter.id)
        json.field("code", letter.cause.code)
        json.field("message", letter.cause.message)
        json.field("attempts", letter.attempts)
        json.field("url", letter.url?.description)
        json.field("at", Timestamp.text(letter.at))
    }

    private static func show(_ arguments: ParsedArguments) async throws -> ExitCode {
        let rules = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings.canonicalRules
        return try await LogAccess.reading(arguments) { log in
            let id = arguments.positionals[0]
            guard
                let letter = try await standing(in: log).first(where: { $0.letter.id == id }).map({
                    shown($0.letter, by: rules)
                })
            else { throw CommandFailure(try await absences(of: [id], in: log)[0]) }
            if arguments.flag("json") {
                Output.object { json in
                    write(&json, letter)
                    json.field("origin", letter.origin.description)
                    json.field("bytes", letter.whole?.bytes ?? letter.body.count)
                    json.field("sha256", letter.whole?.digest.hex)
                    json.field("body", String(decoding: letter.body, as: UTF8.self))
                    json.field("key", String(decoding: letter.key, as: UTF8.self))
                    json.field("keyBytes", letter.wholeKey?.bytes ?? letter.key.count)
                    json.field("keySha256", letter.wholeKey?.digest.hex)
                }
            } else {
                let size = letter.whole.map {
                    "the first \(letter.body.count) of \($0.bytes) bytes, SHA-256 \($0.digest.hex)"
                }
                let key = letter.wholeKey.map {
                    "the first \(RecordLimits.keptKeyPrefix) of \($0.bytes) bytes are kept, SHA-256 \($0.digest.hex)"
                }
                let rows = [
                    ["id", letter.id], ["code", letter.cause.code], ["message", letter.cause.message],
                    ["attempts", "\(letter.attempts)"], ["url", letter.url?.description ?? "-"],
                    ["set aside", Timestamp.text(letter.at)], ["came as", "\(letter.origin)"],
                    ["body", size ?? "\(letter.body.count) bytes"],
                ]
                Console.write(TextTable.text(rows + (key.map { [["key", $0]] } ?? [])))
                Console.print("\n" + quoted(letter.body))
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
            let wanted = arguments.flag("all") ? standing.map(\.letter.id) : arguments.positionals
            let found = standing.filter { wanted.contains($0.letter.id) }
            let now = SystemTime.wall
            let results = await log.append(found.map { $0.letter.discard(partition: $0.partition, at: now) })
            if let failure = results.lazy.compactMap(\.failure).first { throw failure }
            let missing = wanted.filter { id in !found.contains { $0.letter.id == id } }
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
                return "There is no dead letter '\(id)'. 'mezzotint dead list' lists them."
            }
            let time = Timestamp.text(discard.at)
            guard let job = discard.replayedAs else { return "The dead letter '\(id)' was discarded at \(time)." }
            return
                "The dead letter '\(id)' was replayed at \(time) as job '\(job)'. 'mezzotint outcomes --job ID' shows the outcome of that job."
        }
    }

    /// The dead letters that were not discarded, oldest first; unreadable ones are reported and left out.
    static func standing(in log: any Log) async throws -> [(letter: DeadLetter, partition: PartitionID)] {
        var all: [(letter: DeadLetter, partition: PartitionID)] = []
        for number in 0..<log.partitionCount {
            let partition = PartitionID(Int32(number))
            let (letters, unreadable) = try await log.standingDeadLetters(in: partition)
            for failure in unreadable { Console.complain("\(failure)") }
            all += letters.map { ($0, partition) }
        }
        return all.sorted { ($0.letter.at, $0.letter.id) < ($1.letter.at, $1.letter.id) }
    }
}
