internal import Clocks
internal import Foundation
internal import Glibc
internal import Ports
internal import Posix
internal import Synchronization
internal import WebServer

/// A real worker process on a data directory of its own, with an origin in this process.
final class WorkerBench {
    /// Results of one run of the worker: its own summary, and the processor time of it and its renderers.
    struct Run {
        let summary: [String: Double]
        let cpu: Duration
        subscript(_ name: String) -> Double { summary[name] ?? 0 }
    }

    let origin: WebServer
    /// Request times of each target.
    let requests = RequestBook()
    private let scratch: URL
    private let programs = URL(filePath: SystemFacts.programFolder)
    private var data: URL
    var settings: [String] = []
    /// Concurrency of its own origin, which can serve many requests.
    var originConcurrency = 64

    /// - Parameter pictures: files by path; all other paths serve a picture of a few pixels.
    init(pictures: [String: URL] = [:]) throws {
        scratch = FileManager.default.temporaryDirectory.appending(path: "mezzotint-bench-\(UUID().uuidString)")
        data = scratch.appending(path: "data-0")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        let files = pictures.mapValues(\.path)
        origin = try WebServer { [requests] request in
            requests.note(request.target)
            if let file = files[request.path] { return WebServer.Response(.file(path: file)) }
            return WebServer.Response(headers: [("Content-Type", "image/png")], .bytes(Self.dot))
        }
    }

    deinit {
        origin.stop()
        try? FileManager.default.removeItem(at: scratch)
    }

    /// Forgets everything stored so far.
    func startAnew() { data = scratch.appending(path: "data-\(UUID().uuidString)") }

    /// Deletes the worker's indexes, which it rebuilds from the log.
    func removeIndexes() throws { try FileManager.default.removeItem(at: data.appending(path: "index")) }

    /// Publishes a job for each line's URL, or path at the origin, and variants.
    func publish(_ jobs: some Sequence<(url: String, variants: [String])>) throws { _ = try publishing(jobs).finish() }

    /// Starts a producer.
    func publishing(
        _ jobs: some Sequence<(url: String, variants: [String])>, lane: () -> String = { "fast" }
    ) throws -> ChildProgram {
        let file = scratch.appending(path: "jobs-\(UUID().uuidString).ndjson")
        var text = ""
        for job in jobs {
            let variants = job.variants.map { "\"\($0)\"" }.joined(separator: ",")
            let url = job.url.hasPrefix("/") ? origin.address + job.url : job.url
            text += "{\"url\":\"\(url)\",\"variants\":[\(variants)],\"lane\":\"\(lane())\"}\n"
        }
        try Data(text.utf8).write(to: file)
        return try launch("mezzotint", ["publish", "--json", "-"], input: file)
    }

    /// Runs the worker until it is idle.
    func work() throws -> Run {
        let before = childrenCPU()
        return Run(summary: try summary(of: worker()), cpu: childrenCPU() - before)
    }

    /// Starts a worker.
    func worker(untilIdle: Bool = true) throws -> ChildProgram {
        try launch(
            "mezzotint-worker",
            (untilIdle ? ["--until-idle"] : []) + [
                "--json", "--set", "logging.level=error", "--set", "fetch.allow=127.0.0.0/8",
                "--set", "origins.concurrency=\(originConcurrency)",
            ])
    }

    /// Starts a worker that runs until it is stopped, with the default concurrency of an origin, and opens its log.
    func standing() async throws -> (worker: ChildProgram, log: any Log) {
        originConcurrency = 6
        let worker = try worker(untilIdle: false)
        // The worker creates the log.
        try await Task.sleep(for: .seconds(2))
        return (worker, try await log())
    }

    /// A host that serves a picture of a few pixels at each path, after a time.
    static func host(
        _ address: String, after time: Duration, asked: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> WebServer {
        try WebServer(host: address) { request in
            asked(request.target)
            return WebServer.Response(
                .later {
                    try? await Task.sleep(for: time)
                    return WebServer.Response(headers: [("Content-Type", "image/png")], .bytes(dot))
                })
        }
    }

    /// Waits for a worker's end; returns its summary.
    func summary(of worker: ChildProgram) throws -> [String: Double] {
        let last = try worker.finish().split(separator: "\n").last.map { Data($0.utf8) } ?? Data()
        guard let summary = try JSONSerialization.jsonObject(with: last) as? [String: NSNumber] else {
            throw BenchFailure(description: "mezzotint-worker printed no summary; see above.")
        }
        return summary.mapValues(\.doubleValue)
    }

    func launch(_ name: String, _ words: [String], input: URL? = nil) throws -> ChildProgram {
        try ChildProgram(
            programs.appending(path: name), words + assignments.flatMap { ["--set", $0] }, input: input)
    }

    /// Folder of the blobs.
    var store: String { data.appending(path: "store").path }

    /// Bytes in the data directory.
    var stateBytes: Int {
        let files = FileManager.default.enumerator(at: data, includingPropertiesForKeys: [.fileSizeKey])
        return (files?.allObjects ?? []).compactMap { $0 as? URL }
            .reduce(0) { $0 + ((try? $1.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? 0) }
    }

    /// Address of the origin: `http://127.0.0.1:port`.
    var address: String { origin.address }

    /// The log's clock and the origin's, at one moment.
    var clocks: (wall: WallTime, monotonic: Instant) { (SystemTime.wall, SystemTime.monotonic) }

    /// Settings of every program here.
    var assignments: [String] { ["data=\(data.path)"] + settings }

    /// Processor time of every reaped child, and of theirs.
    func childrenCPU() -> Duration { ProcessMemory.childrenCPUTime }

    /// A grey PNG of 16 × 16 pixels.
    static let dot = Array(
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAAAAAA6mKC9AAAAD0lEQVR42mNoQAMMI1sAAAUMgAHjM1mKAAAAAElFTkSuQmCC")
            ?? Data())
}

/// Times of requests to an origin, by target.
final class RequestBook: Sendable {
    private let times = Mutex<[String: [Instant]]>([:])

    func note(_ target: String) { times.withLock { $0[target, default: []].append(SystemTime.monotonic) } }
    /// Times by target, in the order of the requests.
    var all: [String: [Instant]] { times.withLock { $0 } }
    func forget() { times.withLock { $0 = [:] } }
}

struct BenchFailure: Error, CustomStringConvertible {
    let description: String
}

extension [Double] {
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}
