internal import Canonical
internal import Clocks
internal import CommandLine
internal import Foundation
internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import Synchronization
internal import VariantSpec
internal import WebServer

/// `mezzotint-bench parked`: a flood of jobs of a host that is away.
///
/// All of them are parked. Then the worker is killed, and another one begins without an index. At last the host answers,
/// and the order and times of its requests are compared with the order of publishing.
enum ParkedBenchmark {
    static let command = Command(
        "parked", abstract: "A flood of parked jobs: cost, restore and order.",
        examples: ["mezzotint-bench parked --jobs 1000000 --json", "mezzotint-bench parked --jobs 100000 --drain"],
        options: [
            Option("jobs", value: "n", help: "Jobs of a host that is away (100000)."),
            Option(flag: "drain", help: "Let the host answer at last, and measure until no job is left."), .json,
        ],
        // The list of commands has 24 lines without it.
        isHidden: true
    ) { arguments in
        let jobs = try arguments.number("jobs", in: 1...10_000_000) ?? 100_000
        let isAway = Mutex(true)
        let requests = Mutex<[(number: Int, at: Instant)]>([])
        let host = try WebServer(host: "127.0.0.2") { request in
            if isAway.withLock({ $0 }) { return WebServer.Response(status: 500, .bytes([])) }
            let number = Int(request.path.dropFirst().prefix { $0 != "." }) ?? 0
            requests.withLock { $0.append((number, SystemTime.monotonic)) }
            return WebServer.Response(headers: [("Content-Type", "image/png")], .bytes(WorkerBench.dot))
        }
        defer { host.stop() }
        let bench = try WorkerBench()
        var (worker, log) = try await bench.standing()
        let idle = resident(worker)
        let bytes = bench.stateBytes
        let begun = SystemTime.monotonic
        try bench.publish((0..<jobs).lazy.map { (url: "\(host.address)/\($0).png", variants: ["8x8.webp"]) })
        let published = SystemTime.monotonic
        while try await parked(log) < Int64(jobs) { try await Task.sleep(for: .milliseconds(200)) }
        let allParked = SystemTime.monotonic
        // A checkpoint of the log and the index.
        try await Task.sleep(for: .seconds(10))
        let (full, held) = (resident(worker), bench.stateBytes - bytes)
        let appends = try await parked(log)
        worker.kill()
        try bench.removeIndexes()
        let before = try await parked(log)
        let restarted = SystemTime.monotonic
        worker = try bench.worker(untilIdle: false)
        // An owner opens each partition once its rows are restored.
        while try await parked(log) < before + Int64(log.partitionCount) { try await Task.sleep(for: .milliseconds(50)) }
        let restored = SystemTime.monotonic
        let restoredMemory = resident(worker)
        let mebi = 1_048_576.0
        var figures = Figures("parked")
        figures.add([
            "jobs": .whole(Double(jobs)), "publishSeconds": .number((published - begun) / .seconds(1)),
            "parkSeconds": .number((allParked - begun) / .seconds(1)),
            "appendsPerJob": .number(Double(appends) / Double(jobs)),
            "bytesPerJob": .whole(Double(held) / Double(jobs)), "idleMiB": .number(idle / mebi),
            "parkedMiB": .number(full / mebi), "restoredMiB": .number(restoredMemory / mebi),
            "restoreSeconds": .number((restored - restarted) / .seconds(1)),
        ])
        if arguments.flag("drain") {
            let opened = SystemTime.monotonic
            isAway.withLock { $0 = false }
            while requests.withLock({ $0.count }) < jobs { try await Task.sleep(for: .milliseconds(200)) }
            let seen = requests.withLock { $0 }
            // The first request is the probe, for which any job may stand.
            let probe = seen[0].at
            let partitions = try seen.dropFirst().map {
                try log.smallJob("\(host.address)/\($0.number).png", id: "job", .fast).job.source
                    .partition(of: log.partitionCount)
            }
            var newest: [PartitionID: Int] = [:]
            var behind = 0
            for (request, partition) in zip(seen.dropFirst(), partitions) {
                if request.number < newest[partition] ?? 0 { behind += 1 }
                newest[partition] = max(newest[partition] ?? 0, request.number)
            }
            var drain = Figures("parked-drain")
            drain.add([
                "probeSeconds": .number((probe - opened) / .seconds(1)),
                "firstAfterProbeSeconds": .number((seen.dropFirst().first.map { $0.at - probe } ?? .zero) / .seconds(1)),
                "tenthAfterProbeSeconds": .number((seen.dropFirst(10).first.map { $0.at - probe } ?? .zero) / .seconds(1)),
                "drainSeconds": .number((SystemTime.monotonic - probe) / .seconds(1)),
                "startedBehindNewer": .whole(Double(behind)),
            ])
            Console.print(drain.print(asJSON: arguments.flag("json")))
        }
        await log.close()
        _ = try worker.stop()
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    private static func parked(_ log: any Log) async throws -> Int64 { try await log.ends(.parked).reduce(0, +) }

    private static func resident(_ worker: ChildProgram) -> Double { Double(ProcessMemory.of(worker.pid)?.now ?? 0) }
}
