internal import Canonical
internal import Clocks
internal import CommandLine
internal import Foundation
internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import VariantSpec

/// `mezzotint-bench kafka-latency`: time from publishing a job until its variant is stored, at low load.
enum KafkaLatencyBenchmark {
    static let command = Command(
        "kafka-latency", abstract: "Publish to stored at low load, on Kafka.",
        examples: ["mezzotint-bench kafka-latency --json"],
        options: [
            Option("jobs", value: "n", help: "Jobs that count (500); a fifth more come first, to warm up."),
            Option("rate", value: "n", help: "Jobs a second (20)."), BenchBroker.option, .json,
        ]
    ) { arguments in
        let jobs = try arguments.number("jobs", in: 10...1_000_000) ?? 500
        let rate = try arguments.number("rate", in: 1...1_000) ?? 20
        let bench = try KafkaBench(arguments)
        let worker = try bench.workers.worker(untilIdle: false)
        let log = try await bench.open()
        let clocks = bench.workers.clocks
        let begun = try await publish(jobs + jobs / 5, rate, bench, log)
        // The last job's outcome ends the wait.
        while try await log.ends(.outcomes).reduce(0, +) < Int64(begun.count) {
            try await Task.sleep(for: .milliseconds(50))
        }
        _ = try worker.stop()
        var (stored, answered, share): ([Double], [Double], [Double]) = ([], [], [])
        let rows = try await rows(log)
        let requests = bench.workers.requests.all
        for record in try await log.all(.outcomes) {
            let outcome = try OutcomeReport(record)
            guard let start = begun[outcome.job], start.number >= jobs / 5,
                let row = rows[outcome.variants.first?.location ?? ""],
                let asked = requests[start.target]?.first
            else { continue }
            // Time since 1970, more precise than `WallTime`.
            let published: Duration = clocks.wall - .epoch + (start.at - clocks.monotonic)
            stored.append((row.announced - .epoch - published) / .milliseconds(1))
            answered.append((record.timestamp - .epoch - published) / .milliseconds(1))
            // Time outside fetching, rendering and storing: before the origin is contacted, and after the file is
            // stored.
            share.append(((asked - start.at) + (row.announced - row.stored)) / .milliseconds(1))
        }
        await log.close()
        guard stored.count == jobs else {
            throw BenchFailure(description: "Of \(jobs) jobs \(stored.count) were stored.")
        }
        var figures = Figures("kafka-latency")
        for (name, times) in [("stored", stored), ("answered", answered), ("the log's share of stored", share)] {
            figures.add([
                "from publish to": .text(name), "jobs": .whole(Double(jobs)), "perSecond": .whole(Double(rate)),
                "p50Ms": .number(times.percentile(0.5)), "p99Ms": .number(times.percentile(0.99)),
            ])
        }
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    /// Publishes one job at a time, each for a source of its own; returns when each was handed to the log, by job.
    private static func publish(
        _ count: Int, _ rate: Int, _ bench: KafkaBench, _ log: any Log
    ) async throws -> [String: (number: Int, at: Instant, target: String)] {
        let intake = Intake(rules: CanonicalRules())
        var begun: [String: (number: Int, at: Instant, target: String)] = [:]
        let clock = ContinuousClock()
        var due = clock.now
        for number in 0..<count {
            let target = "/dot?latency=\(number)"
            let job = try intake.job(
                url: bench.workers.address + target, variants: [VariantSpec(width: 8, height: 8, format: .webp)],
                id: "latency-\(number)", lane: .fast)
            let record = job.newRecord(partitions: log.partitionCount, at: SystemTime.wall)
            begun[job.id] = (number, SystemTime.monotonic, target)
            let results = await log.append([record])
            guard results.allSatisfy({ $0.offset != nil }) else {
                throw BenchFailure(description: "A job was not published.")
            }
            due = due.advanced(by: .seconds(1) / rate)
            try await clock.sleep(until: due)
        }
        return begun
    }

    /// Times at which each file was stored, and its row was in the log, by location.
    private static func rows(_ log: any Log) async throws -> [String: (stored: WallTime, announced: WallTime)] {
        var rows: [String: (stored: WallTime, announced: WallTime)] = [:]
        for record in try await log.all(.variants) {
            guard case .change(.variant(let row)) = try ChangelogEntry(record) else { continue }
            rows[row.location] = (row.storedAt, record.timestamp)
        }
        return rows
    }
}
