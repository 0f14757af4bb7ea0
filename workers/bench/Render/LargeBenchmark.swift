internal import Clocks
internal import CommandLine
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RenderProtocol
internal import RendererPool
internal import VariantSpec

/// `mezzotint-bench large`: the predicted memory of each picture in a folder, and its renderer's actual memory and
/// time.
enum LargeBenchmark {
    static let command = Command(
        "large", abstract: "Memory and time of large images, one at a time.",
        examples: ["mezzotint-bench large --images DIR --spec 1000x1000-q80.jpg"],
        options: [
            Option("images", value: "dir", help: "Images to render."),
            Option("spec", value: "spec", help: "Variant to render from each (1000x1000-q80.jpg)."), .json,
        ],
        // Only for changes of the decoders' memory estimates.
        isHidden: true
    ) { arguments in
        let folder = URL(filePath: arguments.value("images") ?? ".")
        let spec = try VariantSpec(arguments.value("spec") ?? "1000x1000-q80.jpg")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        var figures = Figures("large")
        for name in names {
            let pool = RendererPool(RendererConfiguration(program: PoolEngine.program, count: 1))
            try await pool.ready()
            let idle = pool.processes.first?.memory?.now ?? 0
            var end = "rendered"
            var estimate = 0
            let start = SystemTime.monotonic
            do throws(RenderFailure) {
                let file: OpenFile
                do throws(SystemFailure) { file = try OpenFile(reading: folder.appending(path: name).path) } catch {
                    throw .unreadable(reason: error.description)
                }
                let picture = try await pool.inspect(file)
                let placement = spec.placement(of: picture.facts.size)
                let order = RenderOrder(spec: spec, output: placement.output, crop: placement.region)
                let output = RenderOutput(
                    format: spec.format, quality: spec.quality, effort: 0, size: order.output, crop: order.crop)
                estimate =
                    RenderRequest(facts: picture.facts, isReuse: false, deadlineMilliseconds: 0, outputs: [output])
                    .memoryEstimate
                _ = try await pool.render(picture, [order], isReuse: false)
            } catch {
                end = error.kind.rawValue
            }
            let time = SystemTime.monotonic - start
            let peak = pool.peakMemoryBytes
            await pool.stop()
            figures.add([
                "picture": .text(name), "end": .text(end), "estimateMiB": .whole(Double(estimate >> 20)),
                "idleMiB": .whole(Double(idle >> 20)), "peakMiB": .whole(Double(peak >> 20)),
                "ms": .whole(time / .milliseconds(1)),
            ])
        }
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }
}
