import Foundation
import HTTP
import Synchronization
import TestSupport

/// What an address answers to a GET.
struct Asked {
    let status: Int
    let type: String?
    let text: String

    init(_ url: String) async throws {
        let body = Body()
        let request = HTTPRequest(url, userAgent: "test") { _ in true }
        let response = try await HTTPClient().execute(request, into: body)
        (status, type, text) = (response.head.status, response.head.header("content-type"), body.text)
    }

    private final class Body: HTTPSink {
        private let kept = Mutex<[UInt8]>([])
        var text: String { kept.withLock { String(decoding: $0, as: UTF8.self) } }
        func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadAnswer { .take }
        func receive(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
            kept.withLock { $0 += bytes }
            return .take
        }
    }
}

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
