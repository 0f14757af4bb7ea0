internal import Canonical
internal import Clocks
internal import CommandLine
internal import Foundation
internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import Settings
internal import Synchronization
internal import VariantSpec
internal import WebServer

/// `mezzotint-bench controls`: how soon a control takes effect: a job that is promoted behind slow jobs of its host, and an
/// urgent job behind fast jobs that are cancelled.
///
/// Each round has a worker and a data folder of its own.
enum ControlsBenchmark {
    private enum Scene: String, CaseIterable {
        /// One job, and nothing else.
        case idle
        /// The last of the slow jobs is promoted.
        case promoted
        /// Fast jobs, which are cancelled by a filter before another one is published.
        case urgent
    }

    static let command = Command(
        "controls", abstract: "How soon promote and cancel take effect.",
        examples: ["mezzotint-bench controls --json"],
        options: [
            Option("slow", value: "n", help: "Slow jobs before the promoted one (400)."),
            Option("fast", value: "n", help: "Fast jobs that are cancelled (600)."),
            Option("rounds", value: "n", help: "Rounds of each row (5)."), .json,
        ]
    ) { arguments in
        let slow = try arguments.number("slow", in: 1...100_000) ?? 400
        let fast = try arguments.number("fast", in: 1...100_000) ?? 600
        let rounds = try arguments.number("rounds", in: 1...100) ?? 5
        let asked = Mutex<[String: Int]>([:])
        let host = try WebServer(host: "127.0.0.2") { request in
            asked.withLock { $0[request.target, default: 0] += 1 }
            return WebServer.Response(
                .later {
                    try? await Task.sleep(for: .milliseconds(200))
                    return WebServer.Response(headers: [("Content-Type", "image/png")], .bytes(WorkerBench.dot))
                })
        }
        defer { host.stop() }
        var figures = Figures("controls")
        for scene in Scene.allCases {
            var (times, requests): ([Double], [Int]) = ([], [])
            for round in 0..<rounds {
                let path = "/\(scene)-\(round).png"
                let count = scene == .idle ? 0 : scene == .promoted ? slow : fast
                times.append(try await run(scene, count, host.address, path))
                requests.append(asked.withLock { $0[path] ?? 0 })
            }
            figures.add([
                "scene": .text(scene.rawValue), "rounds": .whole(Double(rounds)),
                "p50Ms": .number(times.percentile(0.5)), "maxMs": .number(times.max() ?? 0),
                "mostRequests": .whole(Double(requests.max() ?? 0)),
            ])
        }
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    /// Milliseconds from the control (promoted) or the job (idle, urgent) to the job's outcome.
    private static func run(_ scene: Scene, _ count: Int, _ host: String, _ path: String) async throws -> Double {
        let bench = try WorkerBench()
        // The default.
        bench.originConcurrency = 6
        let worker = try bench.worker(untilIdle: false)
        // The worker creates the log.
        try await Task.sleep(for: .seconds(2))
        let log = try await bench.log()
        let intake = Intake(rules: CanonicalRules())
        func job(_ path: String, _ lane: Lane) throws -> Job {
            try intake.job(
                url: host + path, variants: [VariantSpec(width: 8, height: 8, format: .webp)], id: path, lane: lane)
        }
        let lane: Lane = scene == .promoted ? .slow : .fast
        let backlog = try (0..<count).map { _ in try job("/\(UUID().uuidString).png", lane) }
        let meant = try job(path, lane)
        try await append((backlog + (scene == .promoted ? [meant] : [])).map { record($0, log) }, to: log)
        // Time to read the slow jobs, and to park them. The urgent job comes at once.
        if scene == .promoted { try await Task.sleep(for: .seconds(2)) }
        let begin = Duration.seconds(Date().timeIntervalSince1970)
        switch scene {
        case .idle: try await append([record(meant, log)], to: log)
        case .promoted:
            let control = Control(id: "promote", .promote, .source(meant.source, meant.url), at: SystemTime.wall)
            try await append([control.newRecord(partition: meant.source.partition(of: log.partitionCount))], to: log)
        case .urgent:
            var controls: [NewRecord] = []
            for partition in log.partitions {
                let end = try await log.bounds(.jobsFast, partition).upperBound
                let control = Control(
                    id: "cancel", .cancel, .filter(Control.Filter(host: "127.0.0.2", lane: .fast)), at: SystemTime.wall,
                    ends: [.jobsFast: end])
                controls.append(control.newRecord(partition: partition))
            }
            try await append(controls + [record(meant, log)], to: log)
        }
        let partition = meant.source.partition(of: log.partitionCount)
        for _ in 0..<600 {
            for outcome in try await log.read(.outcomes, partition, from: 0, limit: 100_000) where !outcome.isOfControl {
                guard try OutcomeReport(outcome).job == path else { continue }
                await log.close()
                _ = try worker.stop()
                return (outcome.timestamp - .epoch + .microseconds(500) - begin) / .milliseconds(1)
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchFailure(description: "The job \(path) has no outcome after a minute.")
    }

    private static func record(_ job: Job, _ log: any Log) -> NewRecord {
        job.newRecord(partitions: log.partitionCount, at: SystemTime.wall)
    }

    private static func append(_ records: [NewRecord], to log: any Log) async throws {
        guard await log.append(records).allSatisfy({ $0.offset != nil }) else {
            throw BenchFailure(description: "A record was not published.")
        }
    }
}
