internal import CommandLine

let words = Swift.CommandLine.arguments.dropFirst()
if words.first == "bare" { BareProcess.run(Array(words.dropFirst())) }
let program = Command(
    "mezzotint-bench", abstract: "Measure Mezzotint and compare it with alternatives.",
    examples: ["mezzotint-bench render --images ../shared/images/photos --json"],
    subcommands: [
        RenderBenchmark.command, LargeBenchmark.command, PipelineBenchmark.command,
        SkipBenchmark.command,
        MemoryBenchmark.command, OutageBenchmark.command, ParkedBenchmark.command, LanesBenchmark.command,
        ControlsBenchmark.command,
        ReuseBenchmark.command, LossBenchmark.command, DrawingsCommand.command, TruthCommand.command,
        KafkaScaleBenchmark.command, KafkaSkipBenchmark.command,
        KafkaLatencyBenchmark.command, KafkaRestoreBenchmark.command, KafkaMemoryBenchmark.command,
        KafkaOnceBenchmark.command, KafkaKillBenchmark.command,
    ])
await program.main()
