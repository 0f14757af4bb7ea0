internal import Canonical
internal import Clocks
internal import CommandLine
internal import Foundation
internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import TestSupport

/// `mezzotint-bench kafka-skip`: jobs whose variants are all stored, compared to consumers that only read them.
enum KafkaSkipBenchmark {
    static let command = Command(
        "kafka-skip",
        abstract: "Stored jobs on Kafka, beside consumers that only read.",
        examples: [
            "mezzotint-bench kafka-skip --json", "mezzotint-bench kafka-skip --jobs 1000000",
            "mezzotint-bench kafka-skip --rows 1000000 --spread uniform",
        ],
        options: [Option("jobs", value: "n", help: "Jobs in each round (300000).")] + SkipBenchmark.sources
            + [KafkaBench.rounds, BenchBroker.option, .json]
    ) { arguments in
        let jobs = try arguments.number("jobs", in: 1...10_000_000) ?? 300_000
        let bench = try KafkaBench(arguments)
        let (sources, spread) = try await SkipBenchmark.store(arguments, in: bench.workers)
        let about = spread.sources(jobs, of: sources)
        // In turns, so that other load on the machine affects all of them equally.
        var (own, none): ([Run], [Run]) = ([], [])
        for _ in 0..<(try arguments.number("rounds", in: 1...99) ?? 3) {
            own.append(try await round(bench, jobs: jobs, about: about))
            if let run = try parallelConsumer(bench, jobs: jobs) { none.append(run) }
        }
        var figures = Figures("kafka-skip")
        func add(_ what: String, _ runs: [Run]) {
            guard !runs.isEmpty else { return }
            figures.add([
                "what": .text(what), "jobs": .whole(Double(jobs)), "sources": .whole(Double(sources)),
                "spread": .text(spread.rawValue), "perSecond": .whole(runs.map(\.rate).median),
                "cpuMicrosecondsEach": .number(runs.map(\.cpu).median),
            ])
        }
        add("mezzotint-worker", own)
        if let bare = try bareConsumer(bench, jobs: jobs) { add("librdkafka, reading", [bare]) }
        add("parallel-consumer, doing nothing", none)
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    /// Jobs a second, and processor time of each in microseconds.
    private typealias Run = (rate: Double, cpu: Double)

    /// The worker's time runs from its first outcome to its last: joining the group and detecting the end take seconds
    /// that no job costs.
    private static func round(_ bench: KafkaBench, jobs: Int, about: [Int]) async throws -> Run {
        let before = bench.workers.childrenCPU()
        _ = try bench.workers.work()
        let idle = bench.workers.childrenCPU() - before
        let log = try await bench.open()
        let starts = try await log.ends(.outcomes)
        let (intake, address) = (Intake(rules: CanonicalRules()), bench.workers.address)
        let specs = try SkipBenchmark.job(0).variants.map { try CanonicalRules().spec(of: $0) }
        let bodies = try (0...(about.max() ?? 0)).map { source in
            try intake.job(
                url: address + SkipBenchmark.job(source).url, variants: specs, id: "skip", lane: .fast)
        }
        let stamp = UInt32.random(in: 0 ... .max)
        try await log.append(jobs) { [count = log.partitionCount] number in
            var job = bodies[about[number]]
            job.id = "skip-\(stamp)-\(number)"
            return job.newRecord(partitions: count, at: .epoch)
        }
        let run = try bench.workers.work()
        guard run["unchanged"] == Double(3 * jobs), run["fetches"] == 0 else {
            throw BenchFailure(description: "The worker found \(run["unchanged"]) variants unchanged of \(3 * jobs).")
        }
        let times = try await log.all(.outcomes, from: starts).map(\.timestamp)
        await log.close()
        guard let first = times.min(), let last = times.max(), last > first else {
            throw BenchFailure(description: "\(jobs) jobs are too few to be measured.")
        }
        // Jobs of the first batch began before the time runs.
        let counted = times.count { $0 > first }
        return (Double(counted) / (last - first).seconds, (run.cpu - idle) / .microseconds(1) / Double(jobs))
    }

    /// The probe that shows how fast librdkafka itself reads the same topic, without headers or a worker.
    private static func bareConsumer(_ bench: KafkaBench, jobs: Int) throws -> Run? {
        guard let source = Shared.part("probes/librdkafka/cons.c") else {
            Console.complain("kafka-skip: librdkafka alone is NOT MEASURED: ../shared/probes/librdkafka is not here.")
            return nil
        }
        let program = FileManager.default.temporaryDirectory.appending(
            path: "mezzotint-bench-cons-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: program) }
        _ = try ChildProgram.output("cc", ["-O2", "-w", "-o", program.path, source.path, "-lrdkafka", "-lpthread"])
        let text = try ChildProgram.output(
            program.path, [bench.prefix + "jobs.fast", "\(bench.partitions)", "\(jobs)", "pq"],
            environment: ["BS": bench.broker.bootstrap])
        let words = text.split(whereSeparator: { " ,".contains($0) })
        guard let rate = words.first(where: { $0.hasSuffix("/s") }).flatMap({ Double($0.dropLast(2)) }),
            let cpu = words.first(where: { $0.hasSuffix("us/msg") }).flatMap({ Double($0.dropLast(6)) })
        else { throw BenchFailure(description: "cons.c printed no figures: \(text)") }
        return (rate, cpu)
    }

    /// Its processor time includes the start of Java.
    private static func parallelConsumer(_ bench: KafkaBench, jobs: Int) throws -> Run? {
        guard let folder = KafkaPeer.folder("java") else {
            Console.complain("kafka-skip: parallel-consumer is NOT MEASURED: ../shared/peers/java is not here.")
            return nil
        }
        let before = bench.workers.childrenCPU()
        let text = try ChildProgram.output(
            "java",
            [
                "-cp", folder.path + "/libs/*", folder.appending(path: "Noop.java").path, bench.broker.bootstrap,
                bench.prefix + "jobs.fast", "\(jobs)", "100",
            ])
        let words = text.split(separator: " ")
        guard let unit = words.firstIndex(of: "msg/s"), unit > 0, let rate = Double(words[unit - 1]) else {
            throw BenchFailure(description: "Noop.java printed no figures: \(text)")
        }
        return (rate, (bench.workers.childrenCPU() - before) / .microseconds(1) / Double(jobs))
    }
}
