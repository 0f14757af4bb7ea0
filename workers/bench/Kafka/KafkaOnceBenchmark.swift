internal import CommandLine
internal import Foundation

/// `mezzotint-bench kafka-once`: many jobs for few sources, from several producers at once: each source is fetched
/// once.
enum KafkaOnceBenchmark {
    static let command = Command(
        "kafka-once",
        abstract: "How often three workers on Kafka ask an origin.",
        examples: ["mezzotint-bench kafka-once --json"],
        options: [
            Option("sources", value: "n", help: "Sources, each small enough to be kept (200)."), KafkaBench.rounds,
            BenchBroker.option, .json,
        ]
    ) { arguments in
        let sources = try arguments.number("sources", in: 1...100_000) ?? 200
        let bench = try KafkaBench(arguments)
        var figures = Figures("kafka-once")
        for _ in 0..<(try arguments.number("rounds", in: 1...99) ?? 3) {
            try bench.startAnew()
            bench.workers.requests.forget()
            let jobs = (0..<sources).flatMap { source in
                ["16x16", "12x12", "8x8", "4y4", "2x2"].map {
                    (url: "/dot?once=\(source)", variants: ["\($0)-q80.webp"], part: Int.random(in: 0..<4))
                }
            }.shuffled()
            // They publish while the workers join.
            let producers = try (0..<4).map { part in
                try bench.workers.publishing(
                    jobs.filter { $0.part == part }.map { (url: $0.url, variants: $0.variants) },
                    lane: { Bool.random() ? "fast" : "slow" })
            }
            let workers = try (0..<3).map { _ in try bench.workers.worker() }
            for producer in producers { _ = try producer.finish() }
            let runs = try workers.map(bench.workers.summary)
            let made = runs.reduce(0) { $0 + ($1["stored"] ?? 0) + ($1["reused"] ?? 0) }
            let asked = bench.workers.requests.all.values.map(\.count)
            guard made == Double(jobs.count) else {
                throw BenchFailure(description: "Of \(jobs.count) jobs \(made) were stored.")
            }
            figures.add([
                "sources": .whole(Double(sources)), "jobs": .whole(Double(jobs.count)), "producers": .whole(4),
                "workers": .whole(3), "originFetches": .whole(Double(asked.reduce(0, +))),
                "mostOfOneSource": .whole(Double(asked.max() ?? 0)),
            ])
        }
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }
}
