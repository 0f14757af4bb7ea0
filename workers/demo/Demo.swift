import CommandLine
import Foundation
internal import ImageModel
import RendererPool
import WebServer

/// All of Mezzotint on one machine: an origin, publishers, the worker, and a page of the results.
enum Demo {
    static let command = Command(
        "mezzotint-demo", abstract: "Show the whole pipeline on images from a local origin.",
        examples: [
            "ops/demo", "ops/demo --images ~/Pictures --out /tmp/sheet --jobs 500",
            "ops/demo --kafka 127.0.0.1:9092",
        ],
        options: [
            Option("images", value: "dir", help: "Serve these images; by default, some are drawn."),
            Option("out", value: "dir", help: "Output directory (default: out/demo)."),
            Option(
                "kafka", value: "host:port", help: "Run two workers on this broker, on topics that the demo removes."),
            Option("jobs", value: "number", help: "Jobs a round (default: two for each image)."),
        ],
        run: run)

    private static let drawnCount = 24
    private static let dataFolder = "demo-data"
    /// File which marks a folder as a demo's, so that it may be removed.
    private static let marker = ".made-by-mezzotint-demo"

    private static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
        let jobs = try arguments.number("jobs", in: 1...10_000_000)
        let out = URL(filePath: arguments.value("out") ?? "out/demo").standardizedFileURL
        let data = out.appending(path: dataFolder)
        let log = try DemoLog(data: data, kafka: arguments.value("kafka"))
        let programs = try Programs(settings: log.assignments)
        let given = try arguments.value("images").map { try Gallery(existing: URL(filePath: $0)) }
        try begin(data)
        try log.make(by: programs)
        do {
            let gallery =
                if let given { given } else {
                    try await drawn(min(drawnCount, jobs ?? drawnCount), into: out.appending(path: "pictures"), programs)
                }
            try await show(jobs ?? 2 * gallery.names.count, of: gallery, out, log, programs)
        } catch {
            // The failed program has reported the error; topics that remain have the demo's name.
            try? await log.remove()
            throw error
        }
        try await log.remove()
        return .success
    }

    private static func show(
        _ count: Int, of gallery: Gallery, _ out: URL, _ log: DemoLog, _ programs: Programs
    ) async throws {
        let origin = try gallery.serve()
        defer { origin.stop() }
        let first = try Round(
            "First, large sizes", jobs: count, of: gallery, at: origin,
            wanting: [.fast: ["1280x1280-q80.webp", "160y160-q80.webp"], .slow: ["1280x1280-q90.jpg"]], by: programs,
            workers: log.workers)
        let second = try Round(
            "Then smaller ones", jobs: count, of: gallery, at: origin,
            wanting: [.fast: ["640x640-q80.webp"], .slow: ["480x480-q80.jpg", "320y240-q80.jpg"]], by: programs,
            workers: log.workers)

        func peak(_ name: String) -> String { Round.bytes(Int(max(first[name], second[name]))) }
        let summary = """
            \(TextTable.text(Round.titles, [first.cells, second.cells]))
            \(origin.requestCount) requests came to the origin for \(2 * count) jobs.
            Memory: \(log.workers == 1 ? "worker" : "each worker") \(peak("peakMemoryBytes")), renderer \(peak("rendererPeakMemoryBytes")) at most.
            """
        Console.print("\n" + summary)
        let page = try await log.read {
            try await ContactSheet(of: $0, began: first.began).page(store: dataFolder + "/store", summary: summary)
        }
        let sheet = out.appending(path: "index.html")
        try Data(page.utf8).write(to: sheet)
        Console.print("Contact sheet: \(sheet.path)")
    }

    private static func drawn(_ count: Int, into folder: URL, _ programs: Programs) async throws -> Gallery {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let pool = RendererPool(
            RendererConfiguration(program: try programs.path(of: "mezzotint-renderer"), count: cores))
        do {
            let drawn = try await Gallery(drawing: count, into: folder, by: pool)
            await pool.stop()
            return drawn
        } catch {
            await pool.stop()
            throw error
        }
    }

    /// Starts each run in a clean folder; it removes only an earlier demo's files, never a worker's own data.
    private static func begin(_ data: URL) throws {
        let (files, mark) = (FileManager.default, data.appending(path: marker))
        if files.fileExists(atPath: mark.path) {
            try files.removeItem(at: data)
        } else if files.fileExists(atPath: data.path) {
            throw DemoFailure("\(data.path) is there, and no demo has made it. Move it away, or name another --out.")
        }
        try Gallery.makeFolder(data)
        try Data().write(to: mark)
    }
}
