internal import CommandLine
internal import Foundation
internal import ImageModel

/// sharp, as its bench in `peers/node` uses it; nil, and loudly so, where it or node is absent.
struct SharpEngine: BenchmarkEngine {
    let pictures: [URL]
    let jobs: Int
    let out: URL
    private let script: URL

    init?(pictures: [URL], jobs: Int, out: URL) {
        guard let script = SharedTools.part("peers/node/bench.js"),
            (try? SharedTools.output("node", ["--version"])) != nil
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

    func run(_ format: ImageFormat) async throws -> RenderFigures {
        let folder = pictures[0].deletingLastPathComponent().path
        // Its bench gives PNG a quality, which to sharp means a palette: that one line is said anew for it.
        let text =
            format == .png
            ? try SharedTools.output(
                "node",
                [
                    "-e",
                    "eval(require('fs').readFileSync(process.argv[1],'utf8').replace('({quality:80})','()'))",
                    script.path, folder, "\(jobs)", format.rawValue,
                ], environment: modules)
            : try SharedTools.output("node", [script.path, folder, "\(jobs)", format.rawValue])
        let report = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
        return RenderFigures(
            engine: "sharp", format: format, variants: report.variants, seconds: report.seconds,
            cpuMilliseconds: report.cpuPerVariantMs * Double(report.variants), bytes: report.bytes,
            peakMemoryBytes: report.maxRssMiB << 20)
    }

    private var modules: [String: String] {
        ["NODE_PATH": script.deletingLastPathComponent().appending(path: "node_modules").path]
    }

    /// The same call for the largest size, written to files.
    func keep(_ format: ImageFormat) async throws {
        let code = """
            const sharp=require('sharp'),path=require('path');sharp.concurrency(1);
            (async()=>{for(const f of process.argv.slice(1))
              await sharp(f,{failOn:'none'}).rotate().resize(1280,1280,{fit:'inside',withoutEnlargement:true})
                .\(format.rawValue)(\(format == .png ? "" : "{quality:80}")).toFile(path.join(process.env.OUT,path.basename(f)+'.\(format.suffix)'))})()
            """
        _ = try SharedTools.output(
            "node", ["-e", code] + pictures.map(\.path),
            environment: modules.merging(["OUT": out.path]) { $1 })
    }
}
