internal import CommandLine
internal import Foundation
internal import ImageModel
internal import Ports
internal import Posix
internal import Rendering

/// SSIMULACRA2 of 1280 px variants against lossless ones that were decoded in full and resized once.
struct Scorer {
    let pictures: [URL]
    let references: URL

    /// nil, and loudly so, where the tool is absent.
    func score(_ folder: URL, _ format: ImageFormat, jobs: Int) async throws -> (mean: Double, least: Double)? {
        guard let tool = SharedTools.part("tools/ssimulacra2_rs") else {
            Console.complain("SKIPPED: no score, since tools/ssimulacra2_rs (MEZZOTINT_SHARED, ../shared) is not here.")
            return nil
        }
        try await makeReferences()
        let scores = try await withThrowingTaskGroup(of: Double?.self) { group in
            var scores: [Double] = []
            for (i, url) in pictures.enumerated() {
                if i >= jobs, let score = try await group.next() ?? nil { scores.append(score) }
                group.addTask {
                    let variant = folder.appending(path: "\(url.lastPathComponent).\(format.suffix)")
                    let text = try SharedTools.output(tool.path, ["image", reference(url).path, variant.path])
                    return text.split(separator: " ").last.flatMap {
                        Double($0.trimmingCharacters(in: .whitespacesAndNewlines))
                    }
                }
            }
            for try await score in group { if let score { scores.append(score) } }
            return scores
        }
        guard scores.count == pictures.count else { throw ToolFailure(program: "ssimulacra2_rs", status: 0) }
        return (scores.reduce(0, +) / Double(scores.count), scores.min() ?? 0)
    }

    private func reference(_ url: URL) -> URL { references.appending(path: "\(url.lastPathComponent).png") }

    private func makeReferences() async throws {
        guard !FileManager.default.fileExists(atPath: references.path) else { return }
        try FileManager.default.createDirectory(at: references, withIntermediateDirectories: true)
        let pool = RendererPool(RendererConfiguration(program: PoolEngine.program, count: 2))
        for url in pictures {
            let picture = try pool.inspect(try OpenFile(reading: url.path))
            let spec = VariantSpec(width: 1280, height: 1280, format: .png)
            let placement = spec.placement(of: picture.facts.size)
            let order = RenderOrder(spec: spec, output: placement.output, cut: placement.region)
            // As a donor: decoded in full.
            let variants = try await pool.render(picture, [order], lane: .slow, isReuse: true)
            try Data(variants[0].content.bytes()).write(to: reference(url))
        }
        await pool.stop()
    }
}
