internal import Clocks
internal import CommandLine
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RendererPool
internal import Synchronization
internal import VariantSpec

/// `mezzotint-bench inspect`: time of an inspector for a picture's header, on an idle machine and next to renders on
/// every core.
enum InspectBenchmark {
    static let command = Command(
        "inspect", abstract: "How long an inspection takes, idle and beside renders.",
        examples: ["mezzotint-bench inspect --json"],
        options: [
            Option("pictures", value: "dir", help: "Pictures to inspect; by default ../shared/images/photos."),
            Option("count", value: "n", help: "Inspections of each kind (2000)."), .json,
        ],
        // Only for changes of the inspector.
        isHidden: true
    ) { arguments in
        let pictures = try Photographs.named(by: arguments)
        let count = try arguments.number("count", in: 1...1_000_000) ?? 2_000
        let cores = SystemFacts.cores
        let pool = RendererPool(RendererConfiguration(program: PoolEngine.program, count: cores))
        while pool.processes.count < cores { try await pool.ready() }
        let files = try pictures.map { try OpenFile(reading: $0.path) }
        var figures = Figures("inspect")
        for isBusy in [false, true] {
            let flag = Flag()
            let renders = (0..<(isBusy ? cores : 0)).map { part in
                Task {
                    var number = part
                    while !flag.isSet.withLock({ $0 }) {
                        let picture = try await pool.inspect(files[number % files.count])
                        let order = RenderOrder(
                            spec: VariantSpec(width: 1280, height: 960, format: .webp),
                            output: PixelSize(width: 1280, height: 960), crop: Region(whole: picture.facts.size))
                        _ = try await pool.render(picture, [order], isReuse: false)
                        number += cores
                    }
                }
            }
            var times: [Duration] = []
            for number in 0..<count {
                let start = SystemTime.monotonic
                _ = try await pool.inspect(files[number % files.count])
                times.append(SystemTime.monotonic - start)
                // Fetches have pauses between them, too.
                if isBusy { try await Task.sleep(for: .milliseconds(2)) }
            }
            flag.isSet.withLock { $0 = true }
            for render in renders { try await render.value }
            times.sort()
            func milliseconds(_ part: Double) -> Figures.Value {
                .number(times[Int(Double(times.count - 1) * part)] / .milliseconds(1))
            }
            figures.add([
                "renders": .whole(Double(isBusy ? cores : 0)), "p50Ms": milliseconds(0.5), "p99Ms": milliseconds(0.99),
                "maxMs": milliseconds(1),
            ])
        }
        await pool.stop()
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }
}
