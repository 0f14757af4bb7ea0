internal import CommandLine

let program = Command(
    "mezzotint-bench", abstract: "Measures Mezzotint beside what else one would use.",
    examples: ["mezzotint-bench render --pictures ../shared/images/photos", "mezzotint-bench render --json"],
    subcommands: [RenderBenchmark.command])
await program.main()
