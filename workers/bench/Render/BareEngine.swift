internal import Clocks
internal import Foundation
internal import Posix
internal import VariantSpec

/// Bare calls of libvips in a loop, in as many processes as jobs.
struct BareEngine: BenchmarkEngine {
    let pictures: [URL]
    let jobs: Int
    let out: URL

    func run(_ ladder: Ladder) async throws -> RenderFigures { try run(ladder, pictures, keepingIn: "-") }
    func keep(_ ladder: Ladder, of pictures: [URL]) async throws { _ = try run(ladder, pictures, keepingIn: out.path) }

    private func run(_ ladder: Ladder, _ pictures: [URL], keepingIn folder: String) throws -> RenderFigures {
        let formats = ladder.formats.map(\.rawValue).joined(separator: ",")
        let parts = try (0..<jobs).map { part in
            try Part(["bare", formats, "\(part)", "\(jobs)", folder] + pictures.map(\.path))
        }
        for part in parts { part.awaitReady() }
        let start = SystemTime.monotonic
        for part in parts { part.go() }
        var figures = RenderFigures(
            engine: "libvips", ladder: ladder, variants: 0, time: .zero, cpu: .zero, bytes: 0, peakMemoryBytes: 0
        )
        for part in parts {
            let numbers = try part.numbers()
            figures.variants += Int(numbers[0])
            figures.cpu += .milliseconds(numbers[2])
            figures.bytes += Int(numbers[3])
            figures.peakMemoryBytes = max(figures.peakMemoryBytes, Int(numbers[4]))
        }
        figures.time = SystemTime.monotonic - start
        return figures
    }

    /// One process: it reports that it is ready, waits for a line, and prints its numbers.
    private struct Part {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()

        init(_ arguments: [String]) throws {
            process.executableURL = URL(filePath: "/proc/self/exe")
            process.arguments = arguments
            process.standardInput = input
            process.standardOutput = output
            try process.run()
        }

        func awaitReady() { _ = output.fileHandleForReading.availableData }
        func go() { input.fileHandleForWriting.write(Data("go\n".utf8)) }

        func numbers() throws -> [Double] {
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
            guard numbers.count == 5 else {
                throw ToolFailure(program: "mezzotint-bench bare", status: process.terminationStatus)
            }
            return numbers
        }
    }
}
