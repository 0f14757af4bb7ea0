internal import CommandLine
internal import Foundation
internal import TestSupport
internal import VariantSpec

/// `mezzotint-bench pipeline`: the whole worker's cost beyond its renderers alone.
enum PipelineBenchmark {
    static let command = Command(
        "pipeline", abstract: "Photographs through the worker, beside the pool alone.",
        examples: ["mezzotint-bench pipeline --json", "mezzotint-bench pipeline --format webp --rounds 7"],
        options: [
            Option("images", value: "dir", help: "JPEGs to render; by default ../shared/images/photos."),
            Option("format", value: "format", help: "Only this output format.", oneOf: ["webp", "jpeg"]),
            Option("rounds", value: "n", help: "Pairs of runs, interleaved; the median counts (5)."), .json,
        ]
    ) { arguments in
        let pictures = try Photographs.named(by: arguments)
        let rounds = try arguments.number("rounds", in: 1...99) ?? 5
        var figures = Figures("pipeline")
        for format in Photographs.formats(arguments) { try await measure(pictures, format, rounds, &figures) }
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    /// Measures in turn: the pool on files, the worker from the origin, and the worker without jobs, whose start and
    /// end are subtracted.
    private static func measure(_ pictures: [URL], _ format: ImageFormat, _ rounds: Int, _ figures: inout Figures)
        async throws
    {
        let jobs = ProcessInfo.processInfo.activeProcessorCount
        let pool = PoolEngine(pictures: pictures, jobs: jobs, out: pictures[0].deletingLastPathComponent())
        let bench = try WorkerBench(pictures: Photographs.served(pictures))
        var (alone, whole, rates, poolRates): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for _ in 0..<rounds {
            let bare = try await pool.run(Ladder(format))
            alone.append(bare.cpuMsPerVariant)
            poolRates.append(bare.variantsPerSecond)
            bench.startAnew()
            let idle = try bench.work()
            try bench.publish(
                pictures.map { (url: Photographs.path($0), variants: Photographs.specs(format)) })
            let run = try bench.work()
            guard run["renders"] == Double(3 * pictures.count) else {
                throw BenchFailure(
                    description: "The worker rendered \(run["renders"]) variants of \(3 * pictures.count).")
            }
            whole.append((run.cpu - idle.cpu) / .milliseconds(1) / run["renders"])
            rates.append(run["renders"] / (run["seconds"] - idle["seconds"]))
        }
        figures.add([
            "format": .text(format.rawValue), "poolCpuMsPerVariant": .number(alone.median),
            "workerCpuMsPerVariant": .number(whole.median),
            "abovePercent": .number(zip(whole, alone).map { ($0 / $1 - 1) * 100 }.median),
            "poolVariantsPerSecond": .number(poolRates.median), "workerVariantsPerSecond": .number(rates.median),
        ])
    }
}

/// The photographs that benchmarks render.
enum Photographs {
    static func folder(named arguments: ParsedArguments) throws -> URL {
        if let folder = arguments.value("images").map({ URL(filePath: $0) }) ?? Shared.part("images/photos") {
            return folder
        }
        throw UsageError("Found no images: give a directory with --images, or set MEZZOTINT_SHARED.")
    }

    static func named(by arguments: ParsedArguments) throws -> [URL] {
        let folder = try folder(named: arguments)
        let pictures = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { ImageFormat(suffix: $0.pathExtension.lowercased()) == .jpeg }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        guard !pictures.isEmpty else { throw UsageError("There is no JPEG in \(folder.path).") }
        return pictures
    }

    static func formats(_ arguments: ParsedArguments) -> [ImageFormat] {
        arguments.value("format").flatMap { ImageFormat(rawValue: $0) }.map { [$0] } ?? [.webp, .jpeg]
    }

    static func specs(_ format: ImageFormat) -> [String] {
        ["1280x1280", "640x640", "160y160"].map { "\($0)-q80.\(format.suffix)" }
    }

    static func path(_ picture: URL) -> String {
        "/" + (picture.lastPathComponent.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }

    static func served(_ pictures: [URL]) -> [String: URL] {
        Dictionary(uniqueKeysWithValues: pictures.map { ("/" + $0.lastPathComponent, $0) })
    }
}
