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
        let host = try WorkerBench.host("127.0.0.2", after: .milliseconds(200)) { target in
            asked.withLock { $0[target, default: 0] += 1 }
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
        let (worker, log) = try await bench.standing()
        let lane: Lane = scene == .promoted ? .slow : .fast
        var backlog = try (0..<count).map { try log.smallJob("\(host)/\($0)-\(path)", id: "\($0)", lane).record }
        let (meant, record) = try log.smallJob(host + path, id: path, lane)
        if scene == .promoted { backlog.append(record) }
        try await log.publish(backlog)
        // Time to read the slow jobs, and to park them. The urgent job comes at once.
        if scene == .promoted { try await Task.sleep(for: .seconds(2)) }
        let begin = Duration.seconds(Date().timeIntervalSince1970)
        switch scene {
        case .idle: try await log.publish([record])
        case .promoted:
            let control = Control(id: "promote", .promote, .source(meant.source, meant.url), at: SystemTime.wall)
            try await log.publish([control.newRecord(partition: meant.source.partition(of: log.partitionCount))])
        case .urgent:
            var controls: [NewRecord] = []
            for partition in log.partitions {
                let end = try await log.bounds(.jobsFast, partition).upperBound
                let control = Control(
                    id: "cancel", .cancel, .filter(Control.Filter(host: "127.0.0.2", lane: .fast)), at: SystemTime.wall,
                    ends: [.jobsFast: end])
                controls.append(control.newRecord(partition: partition))
            }
            try await log.publish(controls + [record])
        }
        let partition = meant.source.partition(of: log.partitionCount)
        for _ in 0..<600 {
            for outcome in try await log.read(.outcomes, partition, from: 0, limit: 100_000) where !outcome.isOfControl {
                guard try OutcomeReport(outcome).job == path else { continue }
                await log.close()
                _ = try worker.stop()
                return outcome.milliseconds(since: begin)
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchFailure(description: "The job \(path) has no outcome after a minute.")
    }
}
