internal import Clocks
internal import CommandLine
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
    /// When the process began.
    private let started: WallTime

    /// How far the worker has come, and its report.
    private enum Stage {
        case starting
        case waiting(String, MetricsPage)
        case running(MetricsSource)
    }

    private final class Shared: Sendable {
        let stage = Mutex(Stage.starting)
        /// Behind the metrics: the last line of the process before.
        let comment = Mutex("")
    }

    init(_ listen: ListenAddress, started: WallTime) throws(MetricsFailure) {
        let state = Shared()
        do throws(WebServerFailure) {
            server = try WebServer(host: listen.host, port: listen.port, limits: Self.limits) { request in
                Self.answer(request, state.stage.withLock { $0 }, state.comment.withLock { $0 })
            }
        } catch {
            throw MetricsFailure(reason: error)
        }
        (self.state, self.started, address) = (state, started, server.address)
    }

    /// A few who ask, of whom none can hold the others out; what they send is short.
    private static let limits = WebServer.Limits(connections: 512, waiting: 16, memory: 8 << 10)

    /// Tells of this worker from now on.
    func serve(_ source: MetricsSource) { state.stage.withLock { $0 = .running(source) } }

    /// Reports a worker that waits for its log: alive, not ready, and by its metrics one that does not reach the log, so
    /// that nobody takes it for dead.
    func wait(for failure: LogFailure, client: String) {
        var page = MetricsPage()
        page.add(Metric.buildInfo, [.init(1, Command.version, client)])
        page.add(Metric.logConnected, [.init(0)])
        page.add(Metric.partitionsOwned, [.init(0)])
        page.add(Metric.processStart, [.init(Double(started.milliseconds) / 1000)])
        state.stage.withLock { [page] in $0 = .waiting(failure.description, page) }
    }

    /// Reports the last log line of the process that served here before; empty: none is known.
    func report(lastLine: String) {
        guard !lastLine.isEmpty else { return }
        state.comment.withLock { $0 = "\(LastLine.prefix)\(lastLine)\n" }
    }

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
        default: return .notFound
        }
    }
}

/// Why the metrics cannot be served.
struct MetricsFailure: Error, CustomStringConvertible {
    let reason: WebServerFailure
    var description: String { "The metrics cannot be served (metrics.listen). \(reason)" }
}
