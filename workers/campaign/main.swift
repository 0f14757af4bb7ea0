internal import CommandLine

let words = Array(Swift.CommandLine.arguments.dropFirst())
// As a worker starts its renderers: `render.program` names this program.
if words.first == "parent" { StandIn.run(words) }
let program = Command(
    "mezzotint-campaign",
    abstract: "Feeds the real worker damaged pictures, answers, replies and records, beside innocent jobs.",
    examples: ["mezzotint-campaign --minutes 1", "mezzotint-campaign --json"],
    options: [
        Option(
            "minutes", value: "n", help: "End after so long, with what was done by then; by default at the full counts."
        ),
        Option("seconds", value: "n", help: "The same for tests, which have less time."),
        Option("seed", value: "n", help: "What is damaged, and how, follows from it (1)."), .json,
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
