import CommandLine
import EmbeddedLog
import Foundation
import ImageModel
import Rendering

/// The whole of Mezzotint on one machine: an origin, publishers, the worker, and a page of what came of it.
enum Demo {
    static let command = Command(
        "mezzotint-demo", abstract: "Show the whole pipeline on pictures from a local origin.",
        examples: ["ops/demo", "ops/demo --pictures ~/Pictures --out /tmp/sheet --jobs 500"],
        options: [
            Option("pictures", value: "dir", help: "Serve these pictures; without it some are drawn."),
            Option("out", value: "dir", help: "Where everything goes (default: out/demo)."),
            Option("jobs", value: "number", help: "Jobs a round (default: two for each picture)."),
        ],
        run: run)

    private static let drawnCount = 24

    private static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
        let jobs = try arguments.number("jobs", in: 1...10_000_000)
        let out = URL(filePath: arguments.value("out") ?? "out/demo").standardizedFileURL
        let data = out.appending(path: "data")
        let programs = try Programs(settings: ["data=\(data.path)", "fetch.allow=127.0.0.0/8"])
        let gallery = try await gallery(arguments, out, programs)
        try clear(data)

        let origin = try LocalOrigin(gallery)
        defer { origin.stop() }
        let count = jobs ?? 2 * gallery.names.count
        let first = try Round(
            "First, large sizes", jobs: count, of: gallery, at: origin,
            wanting: [.fast: ["1280x1280-q80.webp", "160y160-q80.webp"], .slow: ["1280x1280-q90.jpg"]], by: programs)
        let second = try Round(
            "Then smaller ones", jobs: count, of: gallery, at: origin,
            wanting: [.fast: ["640x640-q80.webp"], .slow: ["480x480-q80.jpg", "320y240-q80.jpg"]], by: programs)

        func peak(_ name: String) -> String { Round.bytes(Int(max(first[name], second[name]))) }
        let summary = """
            \(TextTable.text(Round.titles, [first.cells, second.cells]))
            \(origin.requestCount) requests came to the origin for \(2 * count) jobs.
            Memory: worker \(peak("peakMemoryBytes")), renderer \(peak("rendererPeakMemoryBytes")) at most.
            """
        Console.print("\n" + summary)
        try await writeSheet(out, data, summary, began: first.began)
        return .success
    }

    private static func gallery(_ arguments: ParsedArguments, _ out: URL, _ programs: Programs) async throws -> Gallery
    {
        if let folder = arguments.value("pictures") { return try Gallery(existing: URL(filePath: folder)) }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let pool = RendererPool(
            RendererConfiguration(program: try programs.path(of: "mezzotint-renderer"), count: cores))
        do {
            let drawn = try await Gallery(drawing: drawnCount, into: out.appending(path: "pictures"), by: pool)
            await pool.stop()
            return drawn
        } catch {
            await pool.stop()
            throw error
        }
    }

    /// Each run begins anew; only what an earlier run has left is removed.
    private static func clear(_ data: URL) throws {
        let isOurs = FileManager.default.fileExists(atPath: data.appending(path: "log/log.sqlite").path)
        if isOurs { try FileManager.default.removeItem(at: data) }
    }

    private static func writeSheet(_ out: URL, _ data: URL, _ summary: String, began: Int64) async throws {
        let log = try EmbeddedLog(data.appending(path: "log").path)
        let page: String
        do {
            page = try await ContactSheet(of: log, began: began).page(store: "data/store", summary: summary)
        } catch {
            await log.close()
            throw error
        }
        await log.close()
        let sheet = out.appending(path: "index.html")
        try Data(page.utf8).write(to: sheet)
        Console.print("Contact sheet: \(sheet.path)")
    }
}
