internal import Canonical
internal import Clocks
internal import CommandLine
internal import Foundation
internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import VariantSpec

/// `mezzotint-bench kafka-kill`: the cost to the others when one of three workers is killed.
///
/// No worker replaces it, so the figure shows our own costs: how soon its partitions have an owner, what that owner
/// restores, and the cost of naming each batch of grants (`QuarantinedJobs`). At a fixed rate it shows whether two
/// workers catch up on the backlog. With as many jobs as the workers can do, it also shows the share of a third worker:
/// next to other programs, three get more of a machine than two. That share is the rate of the two after a minute,
/// since they name nothing any more then.
enum KafkaKillBenchmark {
    static let command = Command(
        "kafka-kill", abstract: "Jobs a second on Kafka before and after a kill.",
        examples: ["mezzotint-bench kafka-kill --json", "mezzotint-bench kafka-kill --rate 50 --rounds 1"],
        options: [
            Option(
                "rate", value: "n",
                help: "Jobs a second, such as two workers can do; by default as many as the workers can do."),
            Option("seconds", value: "n", help: "Before the kill, after it, and later (60)."), KafkaBench.rounds,
            BenchBroker.option, .json,
        ]
    ) { arguments in
        let trial = Trial(
            bench: try KafkaBench(arguments), rate: try arguments.number("rate", in: 1...10_000),
            span: .seconds(try arguments.number("seconds", in: 5...3_600) ?? 60))
        var runs: [Run] = []
        for _ in 0..<(try arguments.number("rounds", in: 1...99) ?? 3) { runs.append(try await trial.run()) }
        var figures = Figures("kafka-kill")
        figures.add([
            "load": .text(trial.rate.map { "\($0) a second" } ?? "all they can do"), "workers": .whole(3),
            "partitions": .whole(Double(trial.bench.partitions)), "seconds": .whole(trial.span.seconds),
            "jobsPerSecondBefore": .number(runs.map(\.before).median),
            "jobsPerSecondAfter": .number(runs.map(\.after).median),
            "jobsPerSecondLater": .number(runs.map(\.later).median),
            "ratio": .number(runs.map { $0.after / $0.before }.median),
            "ratioToLater": .number(runs.map { $0.after / $0.later }.median),
            "longestSilenceSeconds": .number(runs.map(\.silence).median),
        ])
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    /// Jobs completed a second, and the longest time after the kill in which a partition completed none, in seconds.
    private typealias Run = (before: Double, after: Double, later: Double, silence: Double)

    private struct Trial {
        let bench: KafkaBench
        /// Jobs a second; nil: so many are always pending that no worker is idle.
        let rate: Int?
        let span: Duration

        private static var now: WallTime { SystemTime.wall }
        /// Fewest pending jobs in each partition: more than a second's work.
        private static let backlog = 250
        /// Time for renderers to start, and for indexes to get their first rows.
        private static let warmUp: Duration = .seconds(10)

        func run() async throws -> Run {
            try bench.startAnew()
            let log = try await bench.open()
            let workers = try (0..<3).map { _ in try bench.workers.worker(untilIdle: false) }
            // Each partition completes a job, so all three workers run.
            try await publish(200, from: 0, to: log)
            while try await log.ends(.outcomes).contains(0) { try await Task.sleep(for: .milliseconds(100)) }
            let next = try await publish(until: Self.now + Self.warmUp + span, from: 200, to: log)
            workers[0].kill()
            let killed = Self.now
            _ = try await publish(until: killed + span * 2, from: next, to: log)
            let answers = try await log.all(.outcomes)
            await log.close()
            for worker in workers.dropFirst() { _ = try worker.stop() }
            return try figures(answers, killed: killed)
        }

        /// Publishes jobs until a time, to keep the rate or the backlog; returns the number of the next job.
        private func publish(until end: WallTime, from first: Int, to log: any Log) async throws -> Int {
            let begun = Self.now
            var next = first
            while case let now = Self.now, now < end {
                let due: Int
                if let rate {
                    due = first + rate * Int((now - begun).milliseconds) / 1_000 - next
                } else {
                    // Jobs that wait for an owner do not count as work for others.
                    let waiting = try await log.partitionOffsets([.jobsFast], log.partitions).map(\.records)
                    due = log.partitionCount * max(0, Self.backlog - Int(waiting.min() ?? 0))
                }
                try await publish(due, from: next, to: log)
                next += due
                try await Task.sleep(for: .milliseconds(100))
            }
            return next
        }

        /// Publishes jobs for a source each: a fetch, a render, rows and an outcome.
        private func publish(_ count: Int, from first: Int, to log: any Log) async throws {
            let (intake, address) = (Intake(rules: CanonicalRules()), bench.workers.address)
            let jobs = try (first..<first + count).map { number in
                try intake.job(
                    url: "\(address)/dot?kill=\(number)", variants: [VariantSpec(width: 8, height: 8, format: .webp)],
                    id: "kill-\(number)", lane: .fast)
            }
            try await log.append(count) { [partitions = log.partitionCount] in
                jobs[$0].newRecord(partitions: partitions, at: Self.now)
            }
        }

        private func figures(_ answers: [Record], killed: WallTime) throws -> Run {
            var seen: Set<String> = []
            var (before, after, later) = (0, 0, 0)
            var times = Dictionary(
                uniqueKeysWithValues: (0..<Int32(bench.partitions)).map { (PartitionID($0), [killed]) })
            for record in answers {
                let outcome = try OutcomeReport(record)
                guard outcome.kind.isSuccess else {
                    throw BenchFailure(description: "\(outcome.job) is answered \(outcome.kind).")
                }
                guard seen.insert(outcome.job).inserted else { continue }
                switch record.timestamp - killed {
                case .zero - span ..< .zero: before += 1
                case .zero..<span:
                    after += 1
                    times[record.partition]?.append(record.timestamp)
                case span..<span * 2: later += 1
                default: break
                }
            }
            guard before > 0 else { throw BenchFailure(description: "Nothing was answered before the kill.") }
            let silences = times.values.map { times in
                zip(times, times.dropFirst() + [killed + span]).map { $1 - $0 }.max() ?? span
            }
            let seconds = span.seconds
            return (
                Double(before) / seconds, Double(after) / seconds, Double(later) / seconds,
                (silences.max() ?? .zero).seconds
            )
        }
    }
}
