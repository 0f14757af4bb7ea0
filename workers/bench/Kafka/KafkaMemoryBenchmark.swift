internal import CommandLine
internal import Foundation
internal import Glibc
internal import Ports
internal import Records

/// `mezzotint-bench kafka-memory`: memory of a worker that owns twelve partitions, at rest and under load.
enum KafkaMemoryBenchmark {
    static let command = Command(
        "kafka-memory", abstract: "The worker's memory on Kafka, at rest and under load.",
        examples: ["mezzotint-bench kafka-memory --json"],
        options: [
            Option(
                "jobs", value: "n", help: "Jobs to fetch for (10000), and twenty times as many that are stored already."
            ),
            Option("rest", value: "seconds", help: "How long nothing is done (10)."), BenchBroker.option, .json,
        ]
    ) { arguments in
        let jobs = try arguments.number("jobs", in: 100...1_000_000) ?? 10_000
        let rest = try arguments.number("rest", in: 1...3_600) ?? 10
        let bench = try KafkaBench(arguments)
        let log = try await bench.open()
        let worker = try bench.workers.worker(untilIdle: false)
        var figures = Figures("kafka-memory")
        func add(_ phase: String, _ samples: [Int]) {
            let mebibytes = samples.map { Double($0) / 1_048_576 }
            figures.add([
                "phase": .text(phase), "partitions": .whole(Double(bench.partitions)),
                "medianMiB": .number(mebibytes.median),
                "mostMiB": .number(mebibytes.max() ?? 0), "lastMiB": .number(mebibytes.last ?? 0),
            ])
        }
        try await Task.sleep(for: .seconds(5))
        add("at rest", try await samples(of: worker) { $0 < 10 * rest })
        // All jobs are pending before the worker polls, so the prefetch fills.
        for (phase, count) in [("fetching", jobs), ("skipping", 20 * jobs)] {
            let answers = try await log.ends(.outcomes).reduce(0, +) + Int64(count)
            let producer = try bench.workers.publishing((0..<count).lazy.map { SkipBenchmark.job($0 % jobs) })
            let found = try await samples(of: worker) { _ in try await log.ends(.outcomes).reduce(0, +) < answers }
            _ = try producer.finish()
            add(phase, found)
        }
        add("at rest again", try await samples(of: worker) { $0 < 10 * rest })
        await log.close()
        _ = try worker.stop()
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    /// Samples ten times a second, as long as `goesOn` returns true for their number.
    private static func samples(
        of worker: ChildProgram, while goesOn: (Int) async throws -> Bool
    ) async throws -> [Int] {
        var samples: [Int] = []
        repeat {
            samples.append(try resident(worker.pid))
            try await Task.sleep(for: .milliseconds(100))
        } while try await goesOn(samples.count)
        return samples
    }

    private static func resident(_ pid: Int32) throws -> Int {
        let fields = try String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8).split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
