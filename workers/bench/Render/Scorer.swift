internal import CommandLine
internal import Foundation
internal import TestSupport
internal import VariantSpec

/// SSIMULACRA2 of 1280 px variants, photographs and drawings, against renderings of the same sources by Pillow and
/// LittleCMS: the reference shares no code with any scored engine.
struct Scorer {
    let photographs: [URL]
    let drawings: [URL]
    let references: URL

    /// Exists below .build after `ops/truth/install` ran, which `ops/bench render` does first.
    private static let python = ".build/truth/venv/bin/python"

    var pictures: [URL] { photographs + drawings }

    /// Scores by image, in the order of `pictures`; nil, with a message, if a tool is missing.
    func scores(_ folder: URL, _ format: ImageFormat, jobs: Int) async throws -> [Double]? {
        guard SSIMULACRA2.isHere else {
            Console.complain("SKIPPED: no score, since tools/ssimulacra2_rs (MEZZOTINT_SHARED, ../shared) is not here.")
            return nil
        }
        guard FileManager.default.fileExists(atPath: Self.python) else {
            Console.complain("SKIPPED: no score, since \(Self.python) is not here: run ops/truth/install.")
            return nil
        }
        if !FileManager.default.fileExists(atPath: references.path) {
            try Self.decode(pictures, side: 1280, to: references)
        }
        var suffix = format.suffix
        if format == .avif {
            // The tool cannot read this format: it gets the pixels.
            suffix += ".png"
            try Self.decode(pictures.map { variant(of: $0, folder, format.suffix) }, side: 0, to: folder)
        }
        let ending = suffix
        return try await withThrowingTaskGroup(of: (Int, Double).self) { group in
            var scores = [Double](repeating: 0, count: pictures.count)
            for (i, url) in pictures.enumerated() {
                if i >= jobs, let (number, score) = try await group.next() { scores[number] = score }
                group.addTask {
                    let reference = references.appending(path: "\(url.lastPathComponent).png")
                    return (i, try await SSIMULACRA2.score(variant(of: url, folder, ending), against: reference))
                }
            }
            for try await (number, score) in group { scores[number] = score }
            return scores
        }
    }

    private func variant(of url: URL, _ folder: URL, _ suffix: String) -> URL {
        folder.appending(path: "\(url.lastPathComponent).\(suffix)")
    }

    /// Converts each file to a PNG of its name, in sRGB and upright, at most `side` pixels wide and high; 0: at its own
    /// size.
    private static func decode(_ files: [URL], side: Int, to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try ChildProgram.output(
            python, ["ops/truth/truth.py", "references", "\(side)", folder.path] + files.map(\.path))
    }
}
