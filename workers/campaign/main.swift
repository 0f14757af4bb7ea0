internal import CommandLine

let words = Array(Swift.CommandLine.arguments.dropFirst())
// Arguments of a worker that starts its renderers: `render.program` names this program.
if words.first == "parent" { StandIn.run(words) }
let program = Command(
    "mezzotint-campaign",
    abstract: "Feeds the real worker damaged images, responses, replies and records, beside innocent jobs.",
    examples: ["mezzotint-campaign --minutes 1", "mezzotint-campaign --json"],
    options: [
        Option(
            "minutes", value: "n", help: "Time limit; by default, the campaign ends at the full counts."
        ),
        Option("seconds", value: "n", help: "The same in seconds, for tests."),
        Option("seed", value: "n", help: "Seed of the damage (1)."), .json,
    ]
) { arguments in
    let minutes = try arguments.number("minutes", in: 1...1440).map { 60 * $0 }
    let campaign = try await Campaign(
        seed: UInt64(try arguments.number("seed", in: 0...Int.max) ?? 1),
        seconds: try minutes ?? arguments.number("seconds", in: 1...3600))
    let result = try await campaign.run()
    Console.print(arguments.flag("json") ? result.json : result.table)
    return result.isGood ? .success : .failure
}
await program.main()
