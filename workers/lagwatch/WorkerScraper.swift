internal import HTTP
internal import Synchronization
internal import Watch

/// Reads the metrics of workers, a few at once. It trusts no response, and bounds each one.
final class WorkerScraper: Sendable {
    private let client = HTTPClient(connectionsPerHost: 1)
    private static let atOnce = 16
    private static let byteLimit = 2 << 20

    /// Reads all addresses, and reports each result as it arrives.
    func ask(_ addresses: [String], tell: @Sendable (WorkerSight) async -> Void) async {
        await withTaskGroup(of: WorkerSight.self) { group in
            var waiting = addresses.makeIterator()
            func start() {
                guard let address = waiting.next() else { return }
                group.addTask { WorkerSight(address, await self.answer(of: address)) }
            }
            for _ in 0..<Self.atOnce { start() }
            for await sight in group {
                await tell(sight)
                start()
            }
        }
    }

    private func answer(of address: String) async -> WorkerSight.Answer {
        var request = HTTPRequest("http://\(address)/metrics", userAgent: "mezzotint-lagwatch") { _ in true }
        request.deadlines.resolve = .seconds(2)
        request.deadlines.connect = .seconds(2)
        request.deadlines.firstByte = .seconds(2)
        request.deadlines.whole = .seconds(4)
        let body = Body(limit: Self.byteLimit)
        do throws(HTTPFailure) {
            let status = try await client.execute(request, into: body).head.status
            // A failing worker responds with its reason in one line.
            guard status != 503 else {
                return .silent("it responds with status 503: \(Words.cut(String(body.text.prefix { $0 != "\n" })))")
            }
            guard status == 200 else { return .silent("it responds with status \(status)") }
            guard let figures = WorkerFigures(body.text) else { return .silent("what responds there is not a worker") }
            return .figures(figures)
        } catch {
            return .silent(
                error == .ended ? "its response is larger than \(Self.byteLimit >> 20) MiB" : error.description)
        }
    }

    private final class Body: HTTPSink {
        private let limit: Int
        private let bytes = Mutex<[UInt8]>([])

        init(limit: Int) { self.limit = limit }

        var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

        func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadDecision {
            head.status == 200 || head.status == 503 ? .take : .discard
        }

        func receive(_ part: UnsafeRawBufferPointer) -> SinkDecision {
            bytes.withLock { bytes in
                guard bytes.count + part.count <= limit else { return .end }
                bytes += part
                return .take
            }
        }
    }
}
