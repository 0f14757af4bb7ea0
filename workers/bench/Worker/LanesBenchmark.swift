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

/// `mezzotint-bench lanes`: the cost of a slow backlog for fast jobs of its host, and of another host.
///
/// Each row has a worker and a data folder of its own. The backlog is published and read first.
enum LanesBenchmark {
    private static let sizes = [300, 2_000, 6_000]

    static let command = Command(
        "lanes", abstract: "Fast jobs beside a backlog of slow jobs.",
        examples: ["mezzotint-bench lanes --json", "mezzotint-bench lanes --jobs 2000 --fast 25 --rate 1"],
        options: [
            Option("jobs", value: "n,n", help: "Sizes of the slow backlog (300,2000,6000)."),
            Option("fast", value: "n", help: "Fast jobs for each row (50)."),
            Option("rate", value: "n", help: "Fast jobs a second (5)."),
            Option("answer", value: "duration", help: "The time that each host takes for a response (50ms)."), .json,
        ]
    ) { arguments in
        let sizes = try arguments.value("jobs").map { text in
            let sizes = text.split(separator: ",").map { Int($0) }
            guard !sizes.isEmpty, sizes.allSatisfy({ (1...1_000_000).contains($0 ?? 0) }) else {
                throw UsageError("--jobs expects numbers from 1 to 1000000 such as 300,2000, got '\(text)'.")
            }
            return sizes.compactMap(\.self)
        }
        let answer = try arguments.value("answer").map { text in
            guard let time = Duration(parsing: text) else {
                throw UsageError("--answer expects a duration such as 50ms, got '\(text)'.")
            }
            return time
        }
        let fast = try arguments.number("fast", in: 1...10_000) ?? 50
        let rate = try arguments.number("rate", in: 1...1_000) ?? 5
        let hosts = try ["127.0.0.2", "127.0.0.3"].map { try WorkerBench.host($0, after: answer ?? .milliseconds(50)) }
        defer { for host in hosts { host.stop() } }
        var figures = Figures("lanes")
        func measure(_ backlog: String, _ slow: Int, of host: WebServer) async throws {
            let times = try await run(slow, of: host.address, fast, rate, of: hosts[0].address)
            figures.add([
                "backlog": .text(backlog), "slowJobs": .whole(Double(slow)), "fastJobs": .whole(Double(times.count)),
                "p50Ms": .number(times.percentile(0.5)), "p90Ms": .number(times.percentile(0.9)),
                "maxMs": .number(times.max() ?? 0),
            ])
        }
        try await measure("none", 0, of: hosts[0])
        for size in sizes ?? Self.sizes {
            try await measure("same host", size, of: hosts[0])
            try await measure("other host", size, of: hosts[1])
        }
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    /// Milliseconds from publishing to the outcome; the log's clock counts whole ones.
    private static func run(
        _ slow: Int, of slowHost: String, _ fast: Int, _ rate: Int, of fastHost: String
    ) async throws -> [Double] {
        let bench = try WorkerBench()
        let (worker, log) = try await bench.standing()
        if slow > 0 {
            let jobs = (0..<slow).lazy.map { (url: "\(slowHost)/slow/\($0).png", variants: ["8x8.webp"]) }
            _ = try bench.publishing(jobs) { "slow" }.finish()
        }
        // Time to read the backlog. Jobs without room are then parked.
        try await Task.sleep(for: .seconds(2))
        // Times since 1970, more precise than `WallTime`.
        var published: [String: Duration] = [:]
        var due = ContinuousClock.now
        for number in 0..<fast {
            let record = try log.smallJob("\(fastHost)/fast/\(number).png", id: "fast-\(number)", .fast).record
            published["fast-\(number)"] = .seconds(Date().timeIntervalSince1970)
            try await log.publish([record])
            due += .seconds(1) / rate
            try await ContinuousClock().sleep(until: due)
        }
        for _ in 0..<240 {
            var times: [Double] = []
            for record in try await log.all(.outcomes) {
                guard let begin = published[try OutcomeReport(record).job] else { continue }
                times.append(record.milliseconds(since: begin))
            }
            if times.count == fast {
                await log.close()
                _ = try worker.stop()
                return times
            }
            try await Task.sleep(for: .milliseconds(500))
        }
        throw BenchFailure(description: "Not all of \(fast) fast jobs were answered within two minutes.")
    }
}
