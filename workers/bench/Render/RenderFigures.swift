internal import Clocks
internal import CommandLine
internal import Foundation

/// Results of one engine with all pictures, in one ladder's formats.
struct RenderFigures {
    var engine: String
    var ladder: Ladder
    var variants: Int
    var time: Duration
    var cpu: Duration
    var bytes: Int
    /// Peak memory of the largest rendering process.
    var peakMemoryBytes: Int
    /// Peak memory of all its processes together, if measured.
    var allMemoryBytes: Int?
    /// SSIMULACRA2 of 1280 px variants; nil if not measured.
    var photographs: Scores?
    var drawings: Scores?

    var variantsPerSecond: Double { Double(variants) / time.seconds }
    var cpuMsPerVariant: Double { cpu / .milliseconds(1) / Double(variants) }

    /// One line of JSON, for scripts.
    var json: String {
        var parts = [
            #""bench":"render""#, #""engine":"\#(engine)""#, #""format":"\#(ladder.name)""#,
            #""variantsPerSecond":\#(RenderFigures.text(variantsPerSecond))"#,
            #""cpuMsPerVariant":\#(RenderFigures.text(cpuMsPerVariant))"#, #""bytes":\#(bytes)"#,
            #""peakMemoryBytes":\#(peakMemoryBytes)"#,
        ]
        if let allMemoryBytes { parts.append(#""allMemoryBytes":\#(allMemoryBytes)"#) }
        parts.append(#""score":\#(photographs.map { RenderFigures.text($0.mean) } ?? "null")"#)
        if let drawings { parts.append(#""drawingScore":\#(RenderFigures.text(drawings.mean))"#) }
        for (scores, name) in [(photographs, "Score"), (drawings, "DrawingScore")] {
            guard let scores else { continue }
            parts.append(#""fifthPercentile\#(name)":\#(RenderFigures.text(scores.fifthPercentile))"#)
            parts.append(#""least\#(name)":\#(RenderFigures.text(scores.least))"#)
        }
        return "{\(parts.joined(separator: ","))}"
    }

    static func table(_ figures: [RenderFigures]) -> String {
        let heads = [
            "format", "engine", "variants/s", "CPU ms/variant", "bytes", "peak MiB", "all MiB", "photographs: mean",
            "p5",
            "least", "drawings: mean", "p5", "least",
        ]
        let rows = figures.map { own in
            [
                own.ladder.name, own.engine, text(own.variantsPerSecond), text(own.cpuMsPerVariant), "\(own.bytes)",
                "\(own.peakMemoryBytes >> 20)", own.allMemoryBytes.map { "\($0 >> 20)" } ?? "-",
            ]
                + [own.photographs, own.drawings].flatMap { scores in
                    [scores?.mean, scores?.fifthPercentile, scores?.least].map { $0.map(text) ?? "-" }
                }
        }
        return String(TextTable.text(heads, rows).dropLast())
    }

    static func text(_ value: Double) -> String { String(format: "%.2f", value) }
}
