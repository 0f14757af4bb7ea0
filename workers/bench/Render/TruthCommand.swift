internal import CommandLine
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RenderProtocol
internal import RendererPool
internal import VariantSpec

/// `mezzotint-bench truth`: renders each file of a folder once, for `ops/campaign --truth` to compare with Pillow and
/// sharp.
enum TruthCommand {
    static let side = 400

    static let command = Command(
        "truth", abstract: "Renders each file of a folder to 400x400.png, and says what became of it.",
        examples: ["mezzotint-bench truth --images DIR --to OUT"],
        options: [
            Option("images", value: "dir", help: "The folder, with all folders below it."),
            Option("to", value: "dir", help: "Where <path>.png and results.jsonl go."),
        ],
        // A step of `ops/campaign --truth`.
        isHidden: true
    ) { arguments in
        guard let folder = arguments.value("images"), let out = arguments.value("to") else {
            throw UsageError("--images names the folder to render, --to the one to write into.")
        }
        var configuration = RendererConfiguration(program: PoolEngine.program, count: 2)
        configuration.limits.formats.formUnion([.tiff, .jxl, .svg])
        let pool = RendererPool(configuration)
        try await pool.ready()
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
        var lines: [String] = []
        for name in files {
            var isFolder: ObjCBool = false
            let path = "\(folder)/\(name)"
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                continue
            }
            var result: [String: String] = ["file": name]
            do {
                let picture = try await pool.inspect(OpenFile(reading: path))
                result["format"] = picture.facts.format.rawValue
                let spec = VariantSpec(width: side, height: side, format: .png)
                let placement = spec.placement(of: picture.facts.size)
                let order = RenderOrder(spec: spec, output: placement.output, crop: placement.region)
                let variant = try await pool.render(picture, [order], isReuse: false)[0]
                let file = URL(filePath: "\(out)/\(name).png")
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(variant.content.bytes()).write(to: file)
            } catch {
                // Also for a file that cannot be opened or written: later files are still rendered.
                result["refusal"] = "\(error)"
            }
            lines.append(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
        }
        await pool.stop()
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: "\(out)/results.jsonl"))
        return .success
    }
}
