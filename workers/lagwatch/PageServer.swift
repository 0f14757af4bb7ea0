internal import Access
internal import Clocks
internal import Posix
internal import Settings
internal import Synchronization
internal import Telemetry
internal import Watch
internal import WebServer

/// Serves the last report: no client waits for the log, and a thousand clients cost no more than one.
///
/// - Concurrency: responds on the server's thread, from memory. Page, JSON and metrics are rendered at the first
///   request, at most once a second. Sources are looked up on request, one at a time.
final class PageServer: Sendable {
    let address: String
    private let server: WebServer
    private let observer: Observer
    private let shown: Shown

    /// The report that all clients see until there is a newer one.
    private final class Shown: Sendable {
        private struct Current {
            let at: Instant
            let report: WatchReport
            var made: [View: SharedContent] = [:]
        }

        private let current = Mutex<Current?>(nil)

        func show(_ report: WatchReport) {
            let new = Current(at: SystemTime.monotonic, report: report)
            current.withLock { $0 = new }
        }

        /// Age of the report; nil before the first one.
        var age: Duration? { current.withLock { $0.map { SystemTime.monotonic - $0.at } } }

        subscript(_ view: View) -> SharedContent? {
            current.withLock { current in
                guard let report = current?.report else { return nil }
                let content = current?.made[view] ?? view.content(of: report)
                current?.made[view] = content
                return content
            }
        }
    }

    /// A form of the report.
    private enum View: Sendable {
        case page, json, metrics

        func content(of report: WatchReport) -> SharedContent {
            let (type, bytes) =
                switch self {
                case .page: ("text/html; charset=utf-8", report.page)
                case .json: ("application/json", report.json)
                case .metrics: (MetricsPage.contentType, Array(report.metrics.text.utf8))
                }
            return SharedContent(bytes, headers: PageServer.headers(type))
        }
    }

    /// Most age of a page, in addition to the log's response time.
    private static let interval = Duration.seconds(1)
    /// Longer than any report takes.
    private static let silence: Duration = .minutes(1)
    /// Limits for a thousand open pages, and for short connections; requests for a source get their turn within half a
    /// minute.
    private static let limits = WebServer.Limits(connections: 2_048, waiting: 4, memory: 8 << 10)

    init(_ listen: ListenAddress, _ settings: Settings, _ observer: Observer) throws(PageFailure) {
        let shown = Shown()
        let gate = RequestGate(hosts: settings.watch.hosts)
        do throws(WebServerFailure) {
            server = try WebServer(host: listen.host, port: listen.port, limits: Self.limits) { request in
                Self.answer(request, gate, shown, observer)
            }
        } catch {
            throw PageFailure(reason: error)
        }
        (self.shown, self.observer, address) = (shown, observer, server.address)
    }

    /// Refreshes the report until the task is cancelled.
    func keepFresh() async {
        while !Task.isCancelled {
            shown.show(await observer.report())
            try? await Task.sleep(for: Self.interval)
        }
    }

    private static func headers(_ type: String) -> [(name: String, value: String)] {
        [
            ("Content-Type", type), ("Content-Security-Policy", PageFrame.policy),
            ("X-Content-Type-Options", "nosniff"),
            // The address of a page may name a source.
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Cache-Control", "no-store"),
        ]
    }

    private static func text(_ text: String, status: Int = 200) -> WebServer.Response {
        var response = WebServer.Response.text(text, status: status)
        response.headers = headers("text/plain; charset=utf-8")
        return response
    }

    private static var starting: WebServer.Response { text("Lagwatch is starting.\n", status: 503) }
    private static let style = SharedContent(Array(PageFrame.style.utf8), headers: headers("text/css; charset=utf-8"))
    private static let script = SharedContent(
        Array(PageFrame.script.utf8), headers: headers("text/javascript; charset=utf-8"))

    private static func answer(
        _ request: WebServer.Request, _ gate: RequestGate, _ shown: Shown, _ observer: Observer
    ) -> WebServer.Response {
        guard request.method == "GET" || request.method == "HEAD" else {
            var refusal = text("Pages are read: GET or HEAD.\n", status: 405)
            refusal.headers.append(("Allow", "GET, HEAD"))
            return refusal
        }
        if let refusal = gate.refusal(of: request.headers) { return text(refusal, status: 403) }
        switch request.path {
        case "/": return shown[.page].map { .init(.shared($0)) } ?? starting
        case "/api/v1/state": return shown[.json].map { .init(.shared($0)) } ?? starting
        case "/metrics": return shown[.metrics].map { .init(.shared($0)) } ?? starting
        case "/page.css": return .init(.shared(style))
        case "/page.js": return .init(.shared(script))
        case "/healthz":
            return shown.age ?? .zero < silence
                ? text("Lagwatch lives.\n") : text("No report was made for a minute.\n", status: 503)
        case "/source":
            guard let source = SourceName(request.query) else {
                return text(
                    "Name a source: /source?url=https://images.example/a.jpg, or /source?key= and its 64 digits.\n",
                    status: 400)
            }
            return .init(
                .later {
                    guard let page = await observer.page(of: source) else { return .unavailable }
                    return .init(headers: headers("text/html; charset=utf-8"), .bytes(page))
                })
        default: return text("Not found.\n", status: 404)
        }
    }
}

/// The reason why the page cannot be served.
struct PageFailure: Error, CustomStringConvertible {
    let reason: WebServerFailure
    var description: String { "The page cannot be served (--listen). \(reason)" }
}

/// Decides which requests are served: all clients that reach the port by an address or by one of our names.
///
/// An untrusted site could point its name at this server, so that its page could read the report. It cannot do that
/// with addresses and `localhost`.
struct RequestGate: Sendable {
    let hosts: [HostPattern]

    /// The error of a request; nil if it is allowed.
    func refusal(of headers: [String: String]) -> String? {
        guard let host = headers["host"], let name = Self.name(of: host) else { return "The request names no host.\n" }
        if case .name(let name) = name, name != "localhost", !hosts.contains(where: { $0.matches(name: name) }) {
            return "This server does not serve the name \(name). Use its address, or list the name in watch.hosts.\n"
        }
        if let origin = headers["origin"], !["http://\(host)", "https://\(host)"].contains(origin) {
            return "Pages of other servers may not ask here.\n"
        }
        return nil
    }

    private static func name(of host: String) -> RequestedHost? {
        var name = host[...]
        if let colon = name.lastIndex(of: ":"), UInt16(name[name.index(after: colon)...]) != nil {
            name = name[..<colon]
        }
        return RequestedHost(String(name))
    }
}
