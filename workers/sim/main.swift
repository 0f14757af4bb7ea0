internal import CommandLine
internal import Glibc
internal import Simulation

// The order of Swift's sets and dictionaries differs between processes, and a seed's result must not.
if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
    execv("/proc/self/exe", CommandLine.unsafeArgv)
}

let program = Command(
    "mezzotint-sim", abstract: "Run three workers in a simulated world for each seed, and check the invariants.",
    examples: ["mezzotint-sim --seeds 1-1000", "mezzotint-sim --seed 17 --trace"],
    options: [
        Option("seeds", value: "a-b", help: "Run these seeds."),
        Option("seed", value: "n", help: "Run this one."),
        Option("steps", value: "m", help: "Events of a seed before its faults end (\(Simulation.usualSteps))."),
        Option(
            "plant", value: "bug",
            help: "Inject a known bug: \(Plant.allCases.map(\.rawValue).joined(separator: ", ")).",
            oneOf: Plant.allCases.map(\.rawValue)),
        Option(flag: "trace", help: "Print each event; with --seed."), .json,
    ]
) { arguments in
    let run = try SimulationRun(arguments)
    return await run.perform()
}
await program.main()
