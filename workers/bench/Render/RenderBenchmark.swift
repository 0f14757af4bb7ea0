internal import CommandLine
internal import Foundation
internal import RendererPool
internal import VariantSpec

/// `mezzotint-bench render`: a set of photographs in three sizes, by our pool, by libvips alone and by sharp, in one run.
struct RenderBenchmark {
    let pictures: [URL]
    let jobs: Int
    /// Isolations; our pool runs once with each.
    let isolations: [RenderIsolation]
    let hosts: [Int]
    let repeats: Int
    /// Pictures whose variants are scored.
    let scored: [URL]
    let drawings: [URL]
    let scratch: URL

    static let command = Command(
        "render", abstract: "Photographs in three sizes, beside libvips and sharp.",
        examples: [
            "mezzotint-bench render --json", "mezzotint-bench render --images DIR --engine mezzotint --no-score",
        ],
        options: [
            Option("images", value: "dir", help: "JPEGs to render; by default ../shared/images/photos."),
            Option(
                "format", value: "format", help: "Only this output format; mixed: JPEG, WebP and AVIF.",
                oneOf: Ladder.all.map(\.name)),
            Option(
                "engine", value: "engine", help: "Only this engine.", oneOf: ["mezzotint", "libvips", "sharp"]),
            Option(
                "isolation", value: "kind", help: "render.isolation (origin); repeat it for more rows.",
                oneOf: RenderIsolation.allCases.map(\.rawValue), isRepeating: true),
            Option(
                "hosts", value: "n", help: "Origins of the images, in turn (4); repeatable.",
                isRepeating: true),
            Option("repeat", value: "n", help: "Renders of each image in one run (1)."),
            Option("rounds", value: "n", help: "Runs of each engine, in turn, for the median (3)."),
            Option("jobs", value: "n", help: "Renders at once; by default as many as cores."),
            Option("scored", value: "n", help: "Photographs to score, beside the drawings (all)."),
            Option(flag: "no-score", help: "Leave out SSIMULACRA2."), .json,
        ]
    ) { arguments in
        let pictures = try Photographs.named(by: arguments)
        let scratch = FileManager.default.temporaryDirectory.appending(path: "mezzotint-bench-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let wanted = arguments.flag("no-score") ? 0 : try arguments.number("scored", in: 1...100_000) ?? pictures.count
        let isolations = arguments.values("isolation").compactMap { RenderIsolation(rawValue: $0) }
        let hosts = arguments.values("hosts").compactMap { Int($0) }
        guard hosts.allSatisfy({ $0 > 0 }), hosts.count == arguments.values("hosts").count else {
            throw UsageError("--hosts takes a whole number of at least 1.")
        }
        let benchmark = RenderBenchmark(
            pictures: pictures, jobs: try arguments.number("jobs", in: 1...256) ?? cores,
            isolations: isolations.isEmpty ? [.origin] : isolations, hosts: hosts.isEmpty ? [4] : hosts,
            repeats: try arguments.number("repeat", in: 1...1_000) ?? 1,
            scored: Self.sample(pictures, wanted),
            drawings: wanted == 0 ? [] : try DrawingsCommand.write(to: scratch.appending(path: "drawings")),
            scratch: scratch)
        let engines = arguments.value("engine").map { [$0] } ?? ["mezzotint", "libvips", "sharp"]
        let ladders = arguments.value("format").map { name in Ladder.all.filter { $0.name == name } } ?? Ladder.all
        var figures: [RenderFigures] = []
        for ladder in ladders {
            figures += try await benchmark.run(engines, ladder, rounds: arguments.number("rounds", in: 1...99) ?? 3)
        }
        Console.print(
            arguments.flag("json") ? figures.map(\.json).joined(separator: "\n") : RenderFigures.table(figures))
        return .success
    }

    /// This many of the pictures, evenly spread.
    private static func sample(_ pictures: [URL], _ count: Int) -> [URL] {
        (0..<min(count, pictures.count)).map { pictures[$0 * pictures.count / min(count, pictures.count)] }
    }

    /// Runs all engines in turn, repeatedly, so that a busy moment of the machine affects them equally.
    private func run(_ names: [String], _ ladder: Ladder, rounds: Int) async throws -> [RenderFigures] {
        for url in pictures { _ = try Data(contentsOf: url) }
        var engines: [any BenchmarkEngine] = []
        for name in names {
            let out = scratch.appending(path: "\(name)-\(ladder.name)")
            try FileManager.default.createDirectory(at: out, withIntermediateDirectories: true)
            switch name {
            case "mezzotint":
                for isolation in isolations {
                    for hosts in hosts {
                        engines.append(
                            PoolEngine(
                                pictures: pictures, jobs: jobs, isolation: isolation, hosts: hosts, repeats: repeats,
                                out: out))
                    }
                }
            case "libvips": engines.append(BareEngine(pictures: pictures, jobs: jobs, out: out))
            default:
                guard let engine = SharpEngine(pictures: pictures, jobs: jobs, out: out) else { continue }
                engines.append(engine)
            }
        }
        var results = engines.map { _ in [RenderFigures]() }
        for _ in 0..<rounds {
            for (i, engine) in engines.enumerated() { results[i].append(try await engine.run(ladder)) }
        }
        var figures: [RenderFigures] = []
        for (i, engine) in engines.enumerated() {
            var median = results[i].sorted { $0.time < $1.time }[rounds / 2]
            median.peakMemoryBytes = results[i].map(\.peakMemoryBytes).max() ?? 0
            median.allMemoryBytes = try await engine.memory(ladder)
            if !scored.isEmpty {
                try await engine.keep(ladder, of: scored + drawings)
                (median.photographs, median.drawings) = try await score(engine.out, ladder)
            }
            figures.append(median)
        }
        return figures
    }

    /// Scores all of the ladder's formats.
    private func score(_ folder: URL, _ ladder: Ladder) async throws -> (photographs: Scores?, drawings: Scores?) {
        let scorer = Scorer(
            photographs: scored, drawings: drawings, references: scratch.appending(path: "reference"))
        var (photographs, drawn): ([Double], [Double]) = ([], [])
        for format in ladder.formats {
            guard let scores = try await scorer.scores(folder, format, jobs: jobs) else { return (nil, nil) }
            photographs += scores.prefix(scored.count)
            drawn += scores.dropFirst(scored.count)
        }
        return (Scores(photographs), Scores(drawn))
    }
}

/// An engine that renders 1280x1280, 640x640 and 160y160 at q80 from every picture.
protocol BenchmarkEngine {
    /// Folder in which `keep` leaves the 1280 px variants, under the source's name and the format's suffix.
    var out: URL { get }
    func run(_ ladder: Ladder) async throws -> RenderFigures
    /// Renders some pictures once more, without measuring, and keeps the largest variant of each format.
    func keep(_ ladder: Ladder, of pictures: [URL]) async throws
    /// Peak memory of all its processes together, from another run; nil if it has only one process.
    func memory(_ ladder: Ladder) async throws -> Int?
}

extension BenchmarkEngine {
    func memory(_ ladder: Ladder) async throws -> Int? { nil }
}
