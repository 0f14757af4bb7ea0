internal import Ports
internal import Posix
internal import Settings
internal import Synchronization
internal import Telemetry
internal import WebServer
internal import WorkerRuntime

/// What the worker tells over HTTP where `metrics.listen` says: its metrics, whether it lives, whether it is ready.
///
/// It listens before the worker is put together: an address that cannot be had ends the start at once, and whoever asks
/// meanwhile hears that the worker is starting.
final class MetricsServer: Sendable {
    /// The address and the port that was found.
    let address: String
    private let server: WebServer
    private let state: Shared

    /// What is told of: nothing until the worker is there.
    private final class Shared: Sendable {
        let source = Mutex<MetricsSource?>(nil)
    }

    init(_ listen: ListenAddress) throws(MetricsFailure) {
        let state = Shared()
        do throws(WebServerFailure) {
            server = try WebServer(host: listen.host, port: listen.port, limits: Self.limits) { request in
                Self.answer(request, state.source.withLock { $0 })
            }
        } catch {
            throw MetricsFailure(reason: error)
        }
        (self.state, address) = (state, server.address)
    }

    /// A few who ask, of whom none can hold the others out; what they send is short.
    private static let limits = WebServer.Limits(connections: 512, waiting: 16, memory: 8 << 10)

    /// Tells of this worker from now on.
    func serve(_ source: MetricsSource) { state.source.withLock { $0 = source } }

    private static func answer(_ request: WebServer.Request, _ source: MetricsSource?) -> WebServer.Response {
        guard request.method == "GET" || request.method == "HEAD" else {
            return .init(status: 405, headers: [("Allow", "GET, HEAD")], .bytes([]))
        }
        switch (request.path, source) {
        // A worker that starts lives.
        case ("/healthz", let source): return source?.health ?? .text("The worker is starting.\n")
        case ("/metrics", nil), ("/readyz", nil): return .text("The worker is starting.\n", status: 503)
        case ("/metrics", let source?):
            return source.standstill
                ?? .init(.later { .init(type: MetricsPage.contentType, Array(await source.page().text.utf8)) })
        case ("/readyz", let source?): return source.standstill ?? .init(.later { await source.readiness() })
        default: return .notFound
        }
    }
}

/// Why the metrics cannot be served.
struct MetricsFailure: Error, CustomStringConvertible {
    let reason: WebServerFailure
    var description: String { "The metrics cannot be served (metrics.listen). \(reason)" }
}
