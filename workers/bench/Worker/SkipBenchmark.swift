internal import CommandLine

/// `mezzotint-bench skip`: jobs whose variants are all stored.
enum SkipBenchmark {
    static let command = Command(
        "skip", abstract: "Jobs whose three variants are all stored.",
        examples: [
            "mezzotint-bench skip --json", "mezzotint-bench skip --jobs 200000 --sources 5000",
            "mezzotint-bench skip --rows 1000000 --spread zipf",
        ],
        options: [
            Option("jobs", value: "n", help: "Jobs in each round (100000).")
        ] + sources + [Option("rounds", value: "n", help: "Runs; the median counts (3)."), .json]
    ) { arguments in
        let jobs = try arguments.number("jobs", in: 1...10_000_000) ?? 100_000
        let bench = try WorkerBench()
        let (sources, spread) = try await store(arguments, in: bench)
        let about = spread.sources(jobs, of: sources)
        var (rates, cpu, memory): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<(try arguments.number("rounds", in: 1...99) ?? 3) {
            let idle = try bench.work()
            try bench.publish(about.lazy.map(job))
            let run = try bench.work()
            guard run["unchanged"] == Double(3 * jobs), run["fetches"] == 0 else {
                throw BenchFailure(
                    description: "The worker found \(run["unchanged"]) variants unchanged of \(3 * jobs).")
            }
            rates.append(Double(jobs) / (run["seconds"] - idle["seconds"]))
            cpu.append((run.cpu - idle.cpu) / .microseconds(1) / Double(jobs))
            memory.append(run["peakMemoryBytes"])
        }
        var figures = Figures("skip")
        figures.add([
            "jobs": .whole(Double(jobs)), "sources": .whole(Double(sources)), "spread": .text(spread.rawValue),
            "jobsPerSecond": .whole(rates.median),
            "cpuMicrosecondsPerJob": .number(cpu.median), "peakMemoryBytes": .whole(memory.median),
        ])
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    /// Options for the sources of the jobs.
    static let sources = [
        Option("sources", value: "n", help: "Sources of the jobs (1000)."),
        Option(
            "rows", value: "n",
            help: "Instead, the number of variants' rows: only one source is rendered, and its rows are copied."),
        Option(
            "spread", value: "order",
            help: "Which source a job is about: each in turn (cycle), any, or by Zipf's law.",
            oneOf: Spread.allCases.map(\.rawValue)),
    ]

    /// Stores the sources of the jobs.
    static func store(_ arguments: ParsedArguments, in bench: WorkerBench) async throws -> (
        sources: Int, spread: Spread
    ) {
        let rows = try arguments.number("rows", in: 6...100_000_000)
        let sources = try rows.map { $0 / 3 } ?? arguments.number("sources", in: 1...1_000_000) ?? 1_000
        if rows == nil {
            try bench.publish((0..<sources).map(job))
            _ = try bench.work()
        } else {
            try await StoredSources.make(sources, in: bench)
        }
        return (sources, arguments.value("spread").flatMap { Spread(rawValue: $0) } ?? .cycle)
    }

    static func job(_ source: Int) -> (url: String, variants: [String]) {
        ("/dot?n=\(source)", ["12x12-q80.webp", "8x8-q80.webp", "4y4-q80.jpg"])
    }
}
