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
        abstract: "Publish dead letters again, each on the lane that it came from, and take them off the list.",
        examples: ["mezzotint dead replay jobs.fast-3-17", "mezzotint dead replay --code render.crashed --limit 100"],
        arguments: [Argument("id", help: "As listed.", isOptional: true, isRepeating: true)],
        options: [
            Option("code", value: "code", help: "Replay the letters with this code, oldest first."),
            Option("limit", value: "number", help: "With --code: at most so many letters."), .json,
        ], run: runReplay)

    /// A letter whose job is not valid stays on the list: published again as it is, it would only die again.
    private static func runReplay(_ arguments: ParsedArguments) async throws -> ExitCode {
        let (ids, code) = (arguments.positionals, arguments.value("code"))
        guard ids.isEmpty == (code != nil) else { throw UsageError("Name the dead letters to replay, or give --code.") }
        let limit = try arguments.value("limit").map { text throws(UsageError) in
            guard let limit = Int(text), limit > 0 else {
                throw UsageError("'--limit <number>' expected a number from 1, got '\(text)'.")
            }
            return limit
        }
        let settings = try Settings.loaded(arguments, inspect: { ChosenLog.problems(of: $0) + $0.jobs.problems })
            .settings
        // A letter keeps no signature, and anybody who may write to the log may have written it.
        guard settings.jobKeys == nil else {
            throw CommandFailure(
                "Dead letters cannot be replayed where jobs.keys is set: a dead letter keeps no signature. Publish the job again with its publisher's key ('mezzotint dead show ID' prints it)."
            )
        }
        return try await LogAccess.changing(arguments) { log in
            let standing = try await standing(in: log)
            let found = standing.filter { $0.letter.cause.code == code || ids.contains($0.letter.id) }
            let wanted = Array(found.prefix(limit ?? found.count))
            let missing = ids.filter { id in !found.contains { $0.letter.id == id } }
            for id in missing { Console.complain("There is no dead letter '\(id)'. 'mezzotint dead list' lists them.") }
            var taken: [(letter: DeadLetter, partition: PartitionID)] = []
            for lane in Lane.allCases {
                var publisher = Publisher(log, settings.canonicalRules, nil, lane: lane, variants: [])
                for one in wanted where (one.letter.origin.topic.lane ?? .fast) == lane {
                    guard one.letter.whole == nil else {
                        Console.complain(
                            "The dead letter '\(one.letter.id)' has only the first \(one.letter.body.count) bytes of its job: publish the whole job again by hand."
                        )
                        continue
                    }
                    let rejected = publisher.rejected
                    publisher.take(.text(one.letter.body), at: "dead letter '\(one.letter.id)'")
                    if publisher.rejected == rejected { taken.append(one) }
                }
                try await publisher.flush()
            }
            // Only a job that is durable on its lane leaves the list.
            let now = SystemTime.wallMilliseconds
            let results = await log.append(taken.map { $0.letter.discard(partition: $0.partition, at: now) })
            if let failure = results.lazy.compactMap(\.failure).first { throw failure }
            let left = wanted.count - taken.count
            if arguments.flag("json") {
                Output.object { json in
                    json.field("replayed", taken.count)
                    json.field("left", left)
                }
            } else {
                Console.print("Replayed \(taken.count)." + (left > 0 ? " \(left) stay on the list." : ""))
            }
            return missing.isEmpty && left == 0 ? .success : .failure
        }
    }
}
