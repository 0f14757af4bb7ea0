internal import CommandLine
internal import Foundation

/// What one engine did with all pictures, in one ladder's formats.
struct RenderFigures {
    var engine: String
    var ladder: Ladder
    var variants: Int
    var seconds: Double
    var cpuMilliseconds: Double
    var bytes: Int
    /// Of the largest process that rendered.
    var peakMemoryBytes: Int
    /// Of all its processes at once, where that was measured.
    var allMemoryBytes: Int?
    /// SSIMULACRA2 of 1280 px variants, mean and least; nil where it was not measured.
    var score: (mean: Double, least: Double)?

    var variantsPerSecond: Double { Double(variants) / seconds }
    var cpuMsPerVariant: Double { cpuMilliseconds / Double(variants) }

    /// One line of JSON, as scripts read it.
    var json: String {
        var parts = [
            #""bench":"render""#, #""engine":"\#(engine)""#, #""format":"\#(ladder.name)""#,
            #""variantsPerSecond":\#(RenderFigures.text(variantsPerSecond))"#,
            #""cpuMsPerVariant":\#(RenderFigures.text(cpuMsPerVariant))"#, #""bytes":\#(bytes)"#,
            #""peakMemoryBytes":\#(peakMemoryBytes)"#,
        ]
        if let allMemoryBytes { parts.append(#""allMemoryBytes":\#(allMemoryBytes)"#) }
        parts.append(#""score":\#(score.map { RenderFigures.text($0.mean) } ?? "null")"#)
        if let score { parts.append(#""leastScore":\#(RenderFigures.text(score.least))"#) }
        return "{\(parts.joined(separator: ","))}"
    }

    static func table(_ figures: [RenderFigures]) -> String {
        let heads = [
            "format", "engine", "variants/s", "CPU ms/variant", "bytes", "peak MiB", "all MiB", "score", "least",
        ]
        let rows = figures.map { own in
            [
                own.ladder.name, own.engine, text(own.variantsPerSecond), text(own.cpuMsPerVariant), "\(own.bytes)",
                "\(own.peakMemoryBytes >> 20)", own.allMemoryBytes.map { "\($0 >> 20)" } ?? "-",
                own.score.map { text($0.mean) } ?? "-",
                own.score.map { text($0.least) } ?? "-",
            ]
        }
        return String(TextTable.text(heads, rows).dropLast())
    }

    static func text(_ value: Double) -> String { String(format: "%.2f", value) }
}
