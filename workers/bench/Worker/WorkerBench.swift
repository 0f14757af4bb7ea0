internal import Foundation
internal import ImageModel
internal import WebServer

/// A real worker process on a data directory of its own, with an origin in this process.
final class WorkerBench {
    /// What one run of the worker came to: its own summary, and the processor time of it and its renderers.
    struct Run {
        let summary: [String: Double]
        let cpuSeconds: Double
        subscript(_ name: String) -> Double { summary[name] ?? 0 }
    }

    let origin: WebServer
    private let scratch: URL
    private let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    private var data: URL
    var settings: [String] = []

    /// `pictures` by path; everything else is answered with a picture of a few pixels.
    init(pictures: [String: URL] = [:]) throws {
        scratch = FileManager.default.temporaryDirectory.appending(path: "mezzotint-bench-\(UUID().uuidString)")
        data = scratch.appending(path: "data-0")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        let files = pictures.mapValues(\.path)
        origin = try WebServer { request in
            if let file = files[request.path] { return WebServer.Response(.file(path: file)) }
            return WebServer.Response(headers: [("Content-Type", "image/png")], .bytes(Self.dot))
        }
    }

    deinit {
        origin.stop()
        try? FileManager.default.removeItem(at: scratch)
    }

    /// Everything stored so far is forgotten.
    func startAnew() { data = scratch.appending(path: "data-\(UUID().uuidString)") }

    /// Publishes a job for each line's URL and variants.
    func publish(_ jobs: some Sequence<(url: String, variants: [String])>) throws {
        let file = scratch.appending(path: "jobs.ndjson")
        var text = ""
        for job in jobs {
            let variants = job.variants.map { "\"\($0)\"" }.joined(separator: ",")
            text += "{\"url\":\"\(origin.address)\(job.url)\",\"variants\":[\(variants)],\"lane\":\"fast\"}\n"
        }
        try Data(text.utf8).write(to: file)
        _ = try program("mezzotint", ["publish", "--json", "-"], input: file)
    }

    /// Runs the worker until nothing is left.
    func work() throws -> Run {
        let before = childrenCPU()
        let output = try program(
            "mezzotint-worker", ["--until-idle", "--json", "--set", "logging.level=error", "--set", "fetch.allow=127.0.0.0/8"])
        let last = output.split(separator: "\n").last.map { Data($0.utf8) } ?? Data()
        guard let summary = try JSONSerialization.jsonObject(with: last) as? [String: NSNumber] else {
            throw BenchFailure(description: "mezzotint-worker printed no summary; see above.")
        }
        return Run(summary: summary.mapValues(\.doubleValue), cpuSeconds: childrenCPU() - before)
    }

    private func program(_ name: String, _ words: [String], input: URL? = nil) throws -> String {
        let process = Process()
        process.executableURL = programs.appending(path: name)
        process.arguments = words + (["data=\(data.path)"] + settings).flatMap { ["--set", $0] }
        process.standardInput = try input.map { try FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let printed = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchFailure(description: "\(name) ended with status \(process.terminationStatus); what it said is above.")
        }
        return String(decoding: printed, as: UTF8.self)
    }

    /// Processor time of every child that ended, and of theirs.
    private func childrenCPU() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// A grey PNG of 16 × 16 pixels.
    private static let dot = Array(
        Data(base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAAAAAA6mKC9AAAAD0lEQVR42mNoQAMMI1sAAAUMgAHjM1mKAAAAAElFTkSuQmCC") ?? Data())
}

struct BenchFailure: Error, CustomStringConvertible {
    let description: String
}

extension [Double] {
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}
