import Foundation
import TestSupport

extension RunningProgram {
    /// Where a worker that was told `metrics.listen=127.0.0.1:0` says that it serves them, without the path.
    func metricsAddress() async throws -> String {
        await says("Metrics are served")
        let line = errors.split(separator: "\n").first { $0.contains("Metrics are served") } ?? ""
        guard let from = line.range(of: "http://"), let to = line[from.lowerBound...].range(of: "/metrics") else {
            throw Exposition.Violation(description: "it names no address: \(errors)")
        }
        return String(line[from.lowerBound..<to.lowerBound])
    }

    func metrics() async throws -> Exposition {
        await says("The worker runs")
        let asked = try await Asked(try await metricsAddress() + "/metrics")
        guard asked.status == 200, asked.type == "text/plain; version=0.0.4; charset=utf-8" else {
            throw Exposition.Violation(description: "\(asked.status), \(asked.type ?? "no type"): \(asked.text)")
        }
        return try Exposition(asked.text)
    }
}
