internal import Access
internal import Clocks
internal import Posix
internal import Settings
internal import Synchronization
internal import Telemetry
internal import Watch
internal import WebServer

/// Serves what was last made of what is known: nobody who asks waits for the log, and a thousand cost no more than one.
///
/// - Concurrency: answers on the server's thread, from memory: page, JSON and metrics are made when the first one asks for
///   them, once a second at most. Sources are looked up when somebody asks, one at a time.
final class PageServer: Sendable {
    let address: String
    private let server: WebServer
    private let observer: Observer
    private let shown: Shown

    /// What everybody is shown until there is a newer report.
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

        /// nil before the first report.
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

    /// A report, as it is shown.
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

    /// A page is at most so old, beside what the log took to answer.
    private static let interval = Duration.seconds(1)
    /// Longer than any report takes.
    private static let silence: Duration = .minutes(1)
    /// A thousand pages, and those who come and go; those who wait for a source have their turn within half a minute.
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

    /// Until the task is cancelled.
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

/// Why the page cannot be served.
struct PageFailure: Error, CustomStringConvertible {
    let reason: WebServerFailure
    var description: String { "The page cannot be served (--listen). \(reason)" }
}

/// Who may ask: whoever reaches the port, by an address or by a name that is ours.
///
/// A name of a stranger's may lead here, so that his page could read what is shown. Addresses and `localhost` are nobody's
/// to give.
struct RequestGate: Sendable {
    let hosts: [HostPattern]

    /// What is wrong with a request; nil if nothing is.
    func refusal(of headers: [String: String]) -> String? {
        guard let host = headers["host"], let name = Self.name(of: host) else { return "The request names no host.\n" }
        if case .name(let name) = name, name != "localhost", !hosts.contains(where: { $0.matches(name: name) }) {
            return "\(name) is no name of this server's. Ask by its address, or list the name in watch.hosts.\n"
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
