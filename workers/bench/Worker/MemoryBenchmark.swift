internal import CommandLine

/// `mezzotint-bench memory`: the worker's peak memory by number of jobs.
enum MemoryBenchmark {
    static let command = Command(
        "memory", abstract: "The worker's peak memory at 1,000 to 100,000 jobs.",
        examples: ["mezzotint-bench memory --json"],
        options: [
            Option("most", value: "n", help: "The most jobs of a run (100000)."), .json,
        ]
    ) { arguments in
        let most = try arguments.number("most", in: 1_000...10_000_000) ?? 100_000
        var figures = Figures("memory")
        let bench = try WorkerBench()
        for (kind, sources) in [("fetched", most / 10), ("skipped", 1_000)] {
            for jobs in [1_000, 10_000, 100_000, 1_000_000].filter({ $0 <= most && (kind == "skipped" || $0 <= sources) }) {
                if kind == "fetched" { bench.startAnew() }
                try bench.publish((0..<jobs).lazy.map { SkipBenchmark.job($0 % sources) })
                let run = try bench.work()
                figures.add([
                    "kind": .text(kind), "jobs": .whole(Double(jobs)), "peakMemoryBytes": .whole(run["peakMemoryBytes"]),
                    "peakMiB": .number(run["peakMemoryBytes"] / 1_048_576),
                    "rendererPeakMemoryBytes": .whole(run["rendererPeakMemoryBytes"]), "fetches": .whole(run["fetches"]),
                    "seconds": .number(run["seconds"]),
                ])
            }
        }
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }
}
