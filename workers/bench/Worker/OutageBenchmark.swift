internal import Canonical
internal import Clocks
internal import CommandLine
internal import Foundation
internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import Settings
internal import VariantSpec
internal import WebServer

/// `mezzotint-bench outage`: the cost of a dead or slow host's jobs for another host's jobs.
///
/// Two workers take turns: one has the dead or slow host's jobs, the other has not; the one that is not measured is
/// stopped. Both get the same fast jobs of a healthy host, and the times of these from publishing to the outcome are
/// compared.
enum OutageBenchmark {
    static let command = Command(
        "outage", abstract: "Measure fast jobs next to jobs of a dead or slow host.",
        examples: ["mezzotint-bench outage --jobs 1000000 --json", "mezzotint-bench outage --slow 5s"],
        options: [
            Option("jobs", value: "n", help: "Jobs of the dead host (100000), or of the slow one (200)."),
            Option(
                "slow", value: "duration", help: "Response time of the host, such as 5s (default: it is dead)."),
            Option("rounds", value: "n", help: "Pairs of turns (6)."),
            Option("seconds", value: "n", help: "How long a turn is (10)."),
            Option("rate", value: "n", help: "Fast jobs a second (20)."), .json,
        ]
    ) { arguments in
        let slow = try arguments.value("slow").map { text in
            guard let wait = Duration(parsing: text) else {
                throw UsageError("--slow takes a duration, not '\(text)'.")
            }
            return wait
        }
        let jobs = try arguments.number("jobs", in: 1...10_000_000) ?? (slow == nil ? 100_000 : 200)
        let rounds = try arguments.number("rounds", in: 1...1_000) ?? 6
        let seconds = try arguments.number("seconds", in: 1...3_600) ?? 10
        let rate = try arguments.number("rate", in: 1...1_000) ?? 20
        let host = try slow.map { try WorkerBench.host("127.0.0.2", after: $0) }
            ?? WebServer(host: "127.0.0.2") { _ in WebServer.Response(status: 500, .bytes([])) }
        defer { host.stop() }
        let (idle, beside) = (try await Side("idle", rate), try await Side("beside", rate))
        for side in [idle, beside] { try await side.turn(for: .seconds(seconds), counts: false) }
        let before = try (idle.resident, beside.resident)
        beside.goOn()
        try await beside.fill(with: jobs, of: host.address, untilAway: slow == nil)
        for round in 0..<rounds {
            for side in round % 2 == 0 ? [idle, beside] : [beside, idle] { try await side.turn(for: .seconds(seconds)) }
        }
        let after = try (idle.resident, beside.resident)
        let (requests, appends) = (host.requestCount, try await beside.parked)
        let times = (try await idle.times(), try await beside.times())
        try await idle.stop()
        try await beside.stop()
        var figures = Figures("outage")
        let mebi = 1_048_576.0
        figures.add([
            "host": .text(slow == nil ? "dead" : "slow"), "jobs": .whole(Double(jobs)),
            "fastJobs": .whole(Double(times.1.count)),
            "idleP50Ms": .number(times.0.percentile(0.5)), "besideP50Ms": .number(times.1.percentile(0.5)),
            "idleP99Ms": .number(times.0.percentile(0.99)), "besideP99Ms": .number(times.1.percentile(0.99)),
            "p99Ratio": .number(times.1.percentile(0.99) / times.0.percentile(0.99)),
            "idleMiBBefore": .number(before.0 / mebi), "idleMiBAfter": .number(after.0 / mebi),
            "besideMiBBefore": .number(before.1 / mebi), "besideMiBAfter": .number(after.1 / mebi),
            "requests": .whole(Double(requests)), "appendsPerJob": .number(Double(appends) / Double(jobs)),
        ])
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    /// One worker, with its own log and its own healthy host.
    private final class Side {
        private let name: String
        private let rate: Int
        private let bench: WorkerBench
        private let worker: ChildProgram
        private let log: any Log
        /// When each job was handed to the log, since 1970 and more precise than `WallTime`.
        private var published: [String: Duration] = [:]
        private var count = 0

        init(_ name: String, _ rate: Int) async throws {
            (self.name, self.rate) = (name, rate)
            bench = try WorkerBench()
            (worker, log) = try await bench.standing()
        }

        var resident: Double {
            get throws { Double(ProcessMemory.of(worker.pid)?.now ?? 0) }
        }

        /// Records of `parked` so far.
        var parked: Int64 { get async throws { try await log.ends(.parked).reduce(0, +) } }

        func goOn() { kill(worker.pid, SIGCONT) }

        /// Publishes jobs of the host; with `untilAway`, returns once all of them are parked.
        func fill(with jobs: Int, of host: String, untilAway: Bool) async throws {
            try bench.publish((0..<jobs).lazy.map { ("\(host)/\($0).png", ["8x8.webp"]) })
            while untilAway, try await parked < Int64(jobs) { try await Task.sleep(for: .milliseconds(200)) }
        }

        /// Publishes fast jobs of the healthy host at the rate, while this worker runs.
        func turn(for time: Duration, counts: Bool = true) async throws {
            goOn()
            // Jobs that became due while it was stopped are not measured.
            try await Task.sleep(for: .seconds(1))
            var due = ContinuousClock.now
            let end = due + time
            while due < end {
                count += 1
                let id = "\(name)-\(count)"
                let record = try log.smallJob("\(bench.address)/dot?\(name)=\(count)", id: id, .fast).record
                if counts { published[id] = .seconds(Date().timeIntervalSince1970) }
                try await log.publish([record])
                due += .seconds(1) / rate
                try await ContinuousClock().sleep(until: due)
            }
            try await Task.sleep(for: .seconds(1))
            kill(worker.pid, SIGSTOP)
        }

        /// Milliseconds from publishing to the outcome; the log's clock counts whole ones.
        func times() async throws -> [Double] {
            goOn()
            for _ in 0..<60 {
                let times = try await answered()
                if times.count == published.count { return times }
                try await Task.sleep(for: .seconds(1))
            }
            throw BenchFailure(description: "Not all of \(published.count) fast jobs were answered within a minute.")
        }

        private func answered() async throws -> [Double] {
            var times: [String: Double] = [:]
            for record in try await log.all(.outcomes) {
                let outcome = try OutcomeReport(record)
                guard let began = published[outcome.job] else { continue }
                guard outcome.kind == .stored else {
                    throw BenchFailure(description: "The job \(outcome.job) ended as \(outcome.kind.rawValue).")
                }
                times[outcome.job] = times[outcome.job] ?? record.milliseconds(since: began)
            }
            return Array(times.values)
        }

        func stop() async throws {
            await log.close()
            goOn()
            _ = try worker.stop()
        }
    }
}
