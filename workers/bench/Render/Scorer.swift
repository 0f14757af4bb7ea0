internal import CommandLine
internal import Foundation
internal import ImageModel
internal import Ports
internal import Posix
internal import RendererPool
internal import TestSupport
internal import VariantSpec

/// SSIMULACRA2 of 1280 px variants against lossless ones that were decoded in full and resized once.
struct Scorer {
    let pictures: [URL]
    let references: URL

    /// nil, and loudly so, where the tool is absent.
    func score(_ folder: URL, _ format: ImageFormat, jobs: Int) async throws -> (mean: Double, least: Double)? {
        guard SSIMULACRA2.isHere else {
            Console.complain("SKIPPED: no score, since tools/ssimulacra2_rs (MEZZOTINT_SHARED, ../shared) is not here.")
            return nil
        }
        try await makeReferences()
        var suffix = format.suffix
        if format == .avif {
            // The tool reads none: it is given the pixels.
            suffix = "png"
            try await decode(pictures.map { variant(of: $0, folder, format.suffix) }) {
                "\($0.deletingPathExtension().path).png"
            }
        }
        let ending = suffix
        let scores = try await withThrowingTaskGroup(of: Double.self) { group in
            var scores: [Double] = []
            for (i, url) in pictures.enumerated() {
                if i >= jobs, let score = try await group.next() { scores.append(score) }
                group.addTask {
                    try await SSIMULACRA2.score(variant(of: url, folder, ending), against: reference(url))
                }
            }
            for try await score in group { scores.append(score) }
            return scores
        }
        return (scores.reduce(0, +) / Double(scores.count), scores.min() ?? 0)
    }

    private func reference(_ url: URL) -> URL { references.appending(path: "\(url.lastPathComponent).png") }

    private func makeReferences() async throws {
        guard !FileManager.default.fileExists(atPath: references.path) else { return }
        try FileManager.default.createDirectory(at: references, withIntermediateDirectories: true)
        try await decode(pictures) { reference($0).path }
    }

    private func variant(of url: URL, _ folder: URL, _ suffix: String) -> URL {
        folder.appending(path: "\(url.lastPathComponent).\(suffix)")
    }

    /// At most 1280 px of each without loss, decoded in full, as a donor is.
    private func decode(_ files: [URL], to path: (URL) -> String) async throws {
        let pool = RendererPool(RendererConfiguration(program: PoolEngine.program, count: 2))
        for url in files {
            let picture = try await pool.inspect(try OpenFile(reading: url.path))
            let spec = VariantSpec(width: 1280, height: 1280, format: .png)
            let placement = spec.placement(of: picture.facts.size)
            let order = RenderOrder(spec: spec, output: placement.output, crop: placement.region)
            let variants = try await pool.render(picture, [order], lane: .slow, isReuse: true)
            try Data(variants[0].content.bytes()).write(to: URL(filePath: path(url)))
        }
        await pool.stop()
    }
}
