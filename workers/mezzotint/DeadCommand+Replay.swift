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
        abstract: "Publish dead letters again, each on its original lane, and remove them from the list.",
        examples: ["mezzotint dead replay jobs.fast-3-17", "mezzotint dead replay --code render.crashed --limit 100"],
        arguments: [Argument("id", help: "As listed.", isOptional: true, isRepeating: true)],
        options: [
            Option("code", value: "code", help: "Replay the dead letters with this code, oldest first."),
            Option("limit", value: "number", help: "With --code: the maximum number of dead letters."), .json,
        ], run: runReplay)

    /// Replays dead letters. A letter with an invalid job stays on the list: published unchanged, it would only become a
    /// dead letter again.
    private static func runReplay(_ arguments: ParsedArguments) async throws -> ExitCode {
        let (ids, code) = (arguments.positionals, arguments.value("code"))
        if !ids.isEmpty, code != nil { throw UsageError("Give either ids or --code, not both.") }
        if ids.isEmpty, code == nil { throw UsageError("Name the dead letters to replay, or give --code.") }
        if code == nil, arguments.value("limit") != nil { throw UsageError("--limit requires --code.") }
        let limit = try arguments.value("limit").map { text throws(UsageError) in
            guard let limit = Int(text), limit > 0 else {
                throw UsageError("'--limit <number>' expected a number from 1, got '\(text)'.")
            }
            return limit
        }
        let settings = try Settings.loaded(arguments, inspect: { ChosenLog.problems(of: $0) + $0.jobs.problems })
            .settings
        // A dead letter keeps no signature, and any client that may write to the log may have written it.
        guard settings.jobKeys == nil else {
            throw CommandFailure(
                "Dead letters cannot be replayed where jobs.keys is set: a dead letter keeps no signature. Publish the job again with its publisher's key ('mezzotint dead show ID' prints it)."
            )
        }
        return try await LogAccess.changing(arguments) { log in
            let standing = try await standing(in: log)
            let found = standing.filter { $0.deadLetter.cause.code == code || ids.contains($0.deadLetter.id) }
            let wanted = Array(found.prefix(limit ?? found.count))
            let missing = ids.filter { id in !found.contains { $0.deadLetter.id == id } }
            if let code, found.isEmpty {
                Console.complain("There is no dead letter with the code '\(code)'. 'mezzotint dead list' lists them.")
            }
            for text in try await absences(of: missing, in: log) { Console.complain(text) }
            var taken: [(deadLetter: DeadLetter, partition: PartitionID, job: String)] = []
            for lane in Lane.allCases {
                var publisher = Publisher(log, settings.canonicalRules, nil, lane: lane, variants: [])
                for one in wanted where (one.deadLetter.origin.topic.lane ?? .fast) == lane {
                    guard one.deadLetter.whole == nil else {
                        Console.complain(
                            "The dead letter '\(one.deadLetter.id)' has only the first \(one.deadLetter.body.count) bytes of its job: publish the whole job again by hand."
                        )
                        continue
                    }
                    let place = "dead letter '\(one.deadLetter.id)'"
                    if let job = publisher.take(.text(one.deadLetter.body), at: place) {
                        taken.append((one.deadLetter, one.partition, job))
                    }
                }
                if publisher.unprinted > 0 {
                    Console.complain("More dead letters are refused: \(publisher.unprinted).")
                }
                try await publisher.flush()
            }
            // Only a job that is durable on its lane leaves the list.
            let now = SystemTime.wall
            let results = await log.append(
                taken.map { $0.deadLetter.discard(partition: $0.partition, at: now, replayedAs: $0.job) })
            if let failure = results.lazy.compactMap(\.failure).first { throw failure }
            let left = wanted.count - taken.count
            if arguments.flag("json") {
                Output.object { json in
                    json.field("replayed", taken.count)
                    json.field("left", left)
                    json.key("ids")
                    json.beginArray()
                    for one in taken {
                        json.beginObject()
                        json.field("from", one.deadLetter.id)
                        json.field("id", one.job)
                        json.endObject()
                    }
                    json.endArray()
                }
            } else {
                for one in taken { Console.print("\(one.deadLetter.id) → \(one.job)") }
                Console.print("Replayed \(taken.count)." + (left > 0 ? " \(left) stay on the list." : ""))
            }
            let isComplete = missing.isEmpty && left == 0 && !(code != nil && found.isEmpty)
            return isComplete ? .success : .failure
        }
    }
}
