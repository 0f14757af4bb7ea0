internal import Clocks
internal import CommandLine
internal import Foundation
internal import VariantSpec

/// `mezzotint-bench reuse`: origin bytes and processor time that reuse saves.
enum ReuseBenchmark {
    static let command = Command(
        "reuse", abstract: "Origin bytes and processor time that reuse saves.",
        examples: ["mezzotint-bench reuse --json"],
        options: [
            Option("images", value: "dir", help: "JPEGs to render; by default ../shared/images/photos."),
            Option("format", value: "format", help: "Only this output format.", oneOf: ["webp", "jpeg"]), .json,
        ]
    ) { arguments in
        let pictures = try Photographs.named(by: arguments)
        var figures = Figures("reuse")
        for format in Photographs.formats(arguments) {
            for (order, rounds) in [("descending", descending(format)), ("random", random(format))] {
                for (policy, settings) in policies { try measure(pictures, order, rounds, policy, settings, format, &figures) }
            }
        }
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    private static let policies: [(String, [String])] = [
        ("fetch each time", ["reuse.enabled=false", "store.originals.limit=0"]),
        ("donors", ["store.originals.limit=0"]),
        ("donors and originals", []),
        ("all originals", ["store.originals.limit=32MiB"]),
    ]

    /// A list of variants for each round, the same for every picture: the largest, then the smaller ones.
    private static func descending(_ format: ImageFormat) -> [(Int) -> [String]] {
        let specs = Photographs.specs(format)
        return [{ _ in [specs[0]] }, { _ in Array(specs[1...]) }]
    }

    /// Five sizes, one in each round, in an order of its own for each picture.
    private static func random(_ format: ImageFormat) -> [(Int) -> [String]] {
        let sizes = ["1280x1280", "960x960", "640x640", "320x320", "160y160"].map { "\($0)-q80.\(format.suffix)" }
        return (0..<5).map { round in
            { picture in
                var order = sizes
                var state = UInt64(picture) &* 0x9e37_79b9_7f4a_7c15 | 1
                for i in (1..<order.count).reversed() {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    order.swapAt(i, Int((state >> 33) % UInt64(i + 1)))
                }
                return [order[round]]
            }
        }
    }

    private static func measure(
        _ pictures: [URL], _ order: String, _ rounds: [(Int) -> [String]], _ policy: String, _ settings: [String],
        _ format: ImageFormat, _ figures: inout Figures
    ) throws {
        let bench = try WorkerBench(pictures: Photographs.served(pictures))
        bench.settings = settings
        let idle = try bench.work()
        var (cpu, bytes, fetches, reused, renders) = (Duration.zero, 0.0, 0.0, 0.0, 0.0)
        for variants in rounds {
            try bench.publish(pictures.enumerated().map { (url: Photographs.path($1), variants: variants($0)) })
            let run = try bench.work()
            cpu += run.cpu - idle.cpu
            bytes += run["fetchedBytes"]
            fetches += run["fetches"]
            reused += run["reused"]
            renders += run["renders"]
        }
        figures.add([
            "format": .text(format.rawValue), "order": .text(order), "policy": .text(policy), "fetches": .whole(fetches),
            "fetchedBytes": .whole(bytes), "reused": .whole(reused), "renders": .whole(renders),
            "cpuSeconds": .number(cpu.seconds),
        ])
    }
}
