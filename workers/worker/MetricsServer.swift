internal import Clocks
internal import CommandLine
internal import Ports
internal import Posix
internal import Settings
internal import Synchronization
internal import Telemetry
internal import WebServer
internal import WorkerRuntime

/// Serves a worker's metrics, liveness and readiness over HTTP at `metrics.listen`.
///
/// It listens before the worker is built: an unavailable address ends the start at once, and clients learn meanwhile
/// that the worker is starting.
final class MetricsServer: Sendable {
    /// Address with the actual port.
    let address: String
    private let server: WebServer
    private let state: Shared
    /// Start time of the process.
    private let started: WallTime

    /// The worker's stage of starting, and its report.
    private enum Stage {
        case starting
        case waiting(String, MetricsPage)
        case running(MetricsSource)
    }

    private final class Shared: Sendable {
        let stage = Mutex(Stage.starting)
        let last = Mutex<LastLine?>(nil)
        /// Last log line of the previous process, appended to the metrics.
        var comment: String {
            last.withLock { last in
                guard let line = last?.before, !line.isEmpty else { return "" }
                return "\(LastLine.prefix)\(line)\n"
            }
        }
    }

    init(_ listen: ListenAddress, started: WallTime) throws(MetricsFailure) {
        let state = Shared()
        do throws(WebServerFailure) {
            server = try WebServer(host: listen.host, port: listen.port, limits: Self.limits) { request in
                Self.answer(request, state.stage.withLock { $0 }, state.comment)
            }
        } catch {
            throw MetricsFailure(reason: error)
        }
        (self.state, self.started, address) = (state, started, server.address)
    }

    /// Limits for a few clients, none of which can block the others; their requests are short.
    private static let limits = WebServer.Limits(connections: 512, waiting: 16, memory: 8 << 10)

    /// Serves this worker from now on.
    func serve(_ source: MetricsSource) { state.stage.withLock { $0 = .running(source) } }

    /// Reports a worker that waits for its log: alive, not ready, and disconnected from the log in its metrics, so that
    /// it does not count as dead.
    func wait(for failure: LogFailure, client: String) {
        var page = MetricsPage()
        page.add(Metric.buildInfo, [.init(1, Command.version, client)])
        page.add(Metric.logConnected, [.init(0)])
        page.add(Metric.partitionsOwned, [.init(0)])
        page.add(Metric.processStart, [.init(Double(started.milliseconds) / 1000)])
        if let crashes = state.last.withLock({ $0?.crashes }) { page.add(Metric.crashes, [.init(crashes)]) }
        state.stage.withLock { [page] in $0 = .waiting(failure.description, page) }
    }

    /// Reports the end of the process that served here before.
    func report(_ last: LastLine) { state.last.withLock { $0 = last } }

    private static func answer(
        _ request: WebServer.Request, _ stage: Stage, _ comment: String
    ) -> WebServer.Response {
        guard request.method == "GET" || request.method == "HEAD" else {
            return .init(status: 405, headers: [("Allow", "GET, HEAD")], .bytes([]))
        }
        switch (request.path, stage) {
        // A worker that starts, or waits for brokers, is alive.
        case ("/healthz", .starting): return .text("The worker is starting.\n")
        case ("/healthz", .waiting(let reason, _)): return .text("The worker waits for the log. \(reason)\n")
        case ("/healthz", .running(let source)): return source.health
        case ("/metrics", .starting), ("/readyz", .starting): return .text("The worker is starting.\n", status: 503)
        case ("/metrics", .waiting(_, let page)):
            return .init(type: MetricsPage.contentType, Array((page.text + comment).utf8))
        case ("/readyz", .waiting(let reason, _)):
            return .text("The worker takes no jobs: it waits for the log. \(reason)\n", status: 503)
        case ("/metrics", .running(let source)):
            return source.standstill
                ?? .init(
                    .later { .init(type: MetricsPage.contentType, Array((await source.page().text + comment).utf8)) })
        case ("/readyz", .running(let source)): return source.standstill ?? .init(.later { await source.readiness() })
        default: return .text("This address serves /metrics, /healthz and /readyz.\n", status: 404)
        }
    }
}

/// The reason why the metrics cannot be served.
struct MetricsFailure: Error, CustomStringConvertible {
    let reason: WebServerFailure
    var description: String { "The metrics cannot be served (metrics.listen). \(reason)" }
}
