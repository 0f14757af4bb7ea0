internal import CommandLine
internal import Foundation
internal import TestSupport
internal import VariantSpec

/// sharp, as its bench in `peers/node` uses it; nil, with a message, if it or node is missing.
struct SharpEngine: BenchmarkEngine {
    let pictures: [URL]
    let jobs: Int
    let out: URL
    private let script: URL

    init?(pictures: [URL], jobs: Int, out: URL) {
        guard let script = Shared.part("peers/node/bench.js"),
            (try? ChildProgram.output("node", ["--version"])) != nil
        else {
            Console.complain(
                "SKIPPED: sharp is left out, since node or peers/node/bench.js (MEZZOTINT_SHARED, ../shared) is not here."
            )
            return nil
        }
        (self.pictures, self.jobs, self.out, self.script) = (pictures, jobs, out, script)
    }

    private struct Report: Decodable {
        let variants: Int
        let seconds: Double
        let cpuPerVariantMs: Double
        let bytes: Int
        let maxRssMiB: Int
    }

    func run(_ ladder: Ladder) async throws -> RenderFigures {
        let folder = pictures[0].deletingLastPathComponent().path
        // Its bench writes one format, with a quality, which means a palette for sharp's PNG. So its inner line is
        // replaced.
        let code = """
            const outputs=[\(ladder.formats.map(Self.output).joined(separator: ","))];
            const own=require('fs').readFileSync(process.argv[1],'utf8')
              .replace('{const o=','for(const [format,options] of outputs){const o=').replace('({quality:80})','(options)');
            if(!own.includes('of outputs')||!own.includes('(options)'))throw new Error('bench.js is not the one that is known');
            eval(own);
            """
        let text = try ChildProgram.output(
            "node", ["-e", code, script.path, folder, "\(jobs)", "webp"], environment: modules)
        let report = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
        return RenderFigures(
            engine: "sharp", ladder: ladder, variants: report.variants, time: .seconds(report.seconds),
            cpu: .milliseconds(report.cpuPerVariantMs * Double(report.variants)), bytes: report.bytes,
            peakMemoryBytes: report.maxRssMiB << 20)
    }

    /// Options at sharp's defaults, including 4:4:4 in AVIF, and our quality; AVIF with our effort.
    private static func output(_ format: ImageFormat) -> String {
        switch format {
        case .png: "['png',{}]"
        case .avif: "['avif',{quality:80,effort:1}]"
        default: "['\(format.rawValue)',{quality:80}]"
        }
    }

    private var modules: [String: String] {
        ["NODE_PATH": script.deletingLastPathComponent().appending(path: "node_modules").path]
    }

    /// The same calls for the largest size, written to files.
    func keep(_ ladder: Ladder, of pictures: [URL]) async throws {
        let outputs = ladder.formats.map { "[\(Self.output($0)),'\($0.suffix)']" }.joined(separator: ",")
        let code = """
            const sharp=require('sharp'),path=require('path');sharp.concurrency(1);
            (async()=>{for(const f of process.argv.slice(1)) for(const [[format,options],suffix] of [\(outputs)])
              await sharp(f,{failOn:'none'}).rotate().resize(1280,1280,{fit:'inside',withoutEnlargement:true})
                [format](options).toFile(path.join(process.env.OUT,path.basename(f)+'.'+suffix))})()
            """
        _ = try ChildProgram.output(
            "node", ["-e", code] + pictures.map(\.path),
            environment: modules.merging(["OUT": out.path]) { $1 })
    }
}
