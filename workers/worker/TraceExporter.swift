internal import CommandLine
internal import HTTP
internal import Settings
internal import Synchronization
internal import Telemetry
internal import WorkerRuntime

/// Posts spans to a collector, in batches; jobs never wait for it. Spans without room or without a successful response
/// are dropped, and counted.
final class TraceExporter: Sendable {
    private let endpoint: String
    private let shownEndpoint: String
    private let instance: String
    private let client = HTTPClient(connectionsPerHost: 1)
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        var waiting: [Span] = []
        var (sent, dropped) = (0, 0)
        /// Whether the last batch failed: logged once, until one succeeds.
        var isFailing = false
    }

    /// Most waiting spans, and spans in a batch: some 300 bytes each.
    private static let (limit, batch) = (8_192, 512)
    private static let interval = Duration.seconds(1)

    /// Reads the settings; nil if spans are disabled.
    init?(_ settings: Settings, logger: Logger) {
        guard !settings.traces.endpoint.isEmpty else { return nil }
        (endpoint, shownEndpoint) = (settings.traces.endpoint, settings.traces.shownEndpoint)
        (instance, self.logger) = (settings.workerName, logger)
    }

    /// Numbers of sent and of dropped spans.
    var counts: (sent: Int, dropped: Int) { state.withLock { ($0.sent, $0.dropped) } }

    func take(_ spans: [Span]) {
        state.withLock { state in
            if state.waiting.count + spans.count > Self.limit {
                state.dropped += spans.count
            } else {
                state.waiting += spans
            }
        }
    }

    /// Posts spans until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            await flush()
        }
    }

    /// Posts waiting spans, until there are none or the collector fails.
    func flush() async {
        while true {
            let spans = state.withLock { state in
                defer { state.waiting.removeFirst(min(Self.batch, state.waiting.count)) }
                return Array(state.waiting.prefix(Self.batch))
            }
            guard !spans.isEmpty else { return }
            let failure = await post(spans)
            let isNews = state.withLock { state in
                if failure == nil { state.sent += spans.count } else { state.dropped += spans.count }
                defer { state.isFailing = failure != nil }
                return failure != nil && !state.isFailing
            }
            guard let failure else { continue }
            if isNews {
                logger.warning(
                    "The collector does not take spans (traces.endpoint): they are dropped until it does. \(failure)",
                    ["endpoint": .string(shownEndpoint)])
            }
            return
        }
    }

    private func post(_ spans: [Span]) async -> String? {
        var request = HTTPRequest(endpoint, userAgent: "mezzotint/\(Command.version)") { _ in true }
        request.headers = ["Content-Type: application/json"]
        request.body =
            SpanBatch(spans, service: "mezzotint-worker", version: Command.version, instance: instance).json
        do {
            let status = try await client.execute(request, into: Unread()).head.status
            return (200..<300).contains(status) ? nil : "It answered \(status)."
        } catch {
            return "\(error)"
        }
    }

    /// Drops a collector's response to accepted spans.
    private final class Unread: HTTPSink {
        func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadDecision { .discard }
        func receive(_ bytes: UnsafeRawBufferPointer) -> SinkDecision { .take }
    }
}
