internal import CommandLine
internal import Foundation
internal import Images
internal import Ports
internal import Posix
internal import RendererPool
internal import TestSupport
internal import VariantSpec

/// `mezzotint-bench losses`: measures the values of `LossTable`, and prints them as in LossTable+Photographs.swift.
enum LossBenchmark {
    static let command = Command(
        "losses", abstract: "Measure the loss of deriving a variant from a stored one.",
        examples: ["mezzotint-bench losses --count 12", "mezzotint-bench losses --images DIR"],
        options: [
            Option(
                "images", value: "dir", help: "Photographs of 1920 px or more; by default ../shared/images/photos."),
            Option("count", value: "n", help: "Number of photographs, evenly spread (default: all)."),
            Option(flag: "raw", help: "Print each loss instead of the table."),
        ],
        // Only for changes of the table (`LossTable`).
        isHidden: true
    ) { arguments in
        guard SSIMULACRA2.isHere else {
            throw UsageError(
                "ssimulacra2_rs is missing: set MEZZOTINT_SHARED to the folder that has tools/ssimulacra2_rs.")
        }
        let folder = try Photographs.folder(named: arguments)
        let pool = RendererPool(RendererConfiguration(program: PoolEngine.program, count: 2))
        try await pool.ready()
        var large: [URL] = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) where await isLarge(file, pool) { large.append(file) }
        large.sort { $0.lastPathComponent < $1.lastPathComponent }
        guard !large.isEmpty else { throw UsageError("Found no image of 1920 px or more in \(folder.path).") }
        let step = max(1, large.count / (try arguments.number("count", in: 1...10_000) ?? large.count))
        let scratch = FileManager.default.temporaryDirectory.appending(path: "mezzotint-losses-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }

        var table = LossFigures()
        for (number, photograph) in large.enumerated() where number % step == 0 {
            Console.complain("\(number + 1) of \(large.count): \(photograph.lastPathComponent)")
            let losses = try await LossMeasurement(renderer: pool, folder: scratch).losses(of: photograph)
            table.add(losses)
            guard arguments.flag("raw") else { continue }
            for (cell, loss) in losses { Console.print("\(photograph.lastPathComponent) \(cell) \(loss)") }
        }
        await pool.stop()
        if !arguments.flag("raw") { Console.print(table.rows.joined(separator: "\n")) }
        return .success
    }

    private static func isLarge(_ file: URL, _ pool: RendererPool) async -> Bool {
        guard let picture = try? await pool.inspect(OpenFile(reading: file.path)) else { return false }
        return max(picture.facts.size.width, picture.facts.size.height) >= 1920
    }
}
