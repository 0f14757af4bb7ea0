import HTTP
import Synchronization
import TestSupport
import Testing

/// Keeps a body in memory.
private final class Collector: HTTPSink {
    private let kept = Mutex<[UInt8]>([])
    var bytes: [UInt8] { kept.withLock { $0 } }

    func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadDecision {
        head.status == 200 ? .take : .discard
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> SinkDecision {
        kept.withLock { $0 += bytes }
        return .take
    }
}

@Suite("The HTTP client", .timeLimit(.minutes(1)))
struct HTTPClientTests {
    private func get(_ url: String, accepts: Bool = true) -> HTTPRequest {
        HTTPRequest(url, userAgent: "test") { _ in accepts }
    }

    private func expect(_ failure: HTTPFailure, of client: HTTPClient, _ request: HTTPRequest) async {
        await #expect(throws: failure) { try await client.execute(request, into: Collector()) }
    }

    @Test("A connection opened for one transfer is not reused by another whose check refuses it")
    func reuse() async throws {
        let origin = try LocalOrigin()
        origin.serve("/a", .bytes([1, 2, 3]))
        let client = HTTPClient()
        let body = Collector()
        _ = try await client.execute(get(origin.url("/a")), into: body)
        #expect(body.bytes == [1, 2, 3])
        await expect(.refusedAddress("127.0.0.1"), of: client, get(origin.url("/a"), accepts: false))
        #expect(origin.requestCount == 1)
        // That the connection was there to be reused is what makes this a test.
        _ = try await client.execute(get(origin.url("/a")), into: Collector())
        #expect(origin.requests(of: "/a") == 2)
    }

    @Test("All addresses of a name that are refused are named")
    func refusals() async throws {
        let failure = await #expect(throws: HTTPFailure.self) {
            try await HTTPClient().execute(get("http://localhost:9/a", accepts: false), into: Collector())
        }
        let orders = ["::1 and 127.0.0.1", "127.0.0.1 and ::1"]
        // A machine without IPv6 has one.
        #expect((orders + ["127.0.0.1"]).contains { failure == .refusedAddress($0) }, "\(failure as Any)")
    }

    @Test("Connections are kept and used again, after an unwanted body too")
    func keepAlive() async throws {
        let origin = try LocalOrigin()
        origin.serve("/a", .bytes([1]))
        origin.serve("/missing", .status(404))
        let client = HTTPClient()
        for path in ["/a", "/missing", "/a", "/missing", "/a"] {
            _ = try await client.execute(get(origin.url(path)), into: Collector())
        }
        #expect(origin.connectionCount == 1)
    }

    @Test("Waiting for a free connection counts against no deadline but its own")
    func queue() async throws {
        let origin = try LocalOrigin()
        let gate = Gate()
        origin.serve("/slow", .gated(gate, .status(200, headers: [("Connection", "close")], body: [1])))
        origin.serve("/next", .bytes([2]))
        let client = HTTPClient(connectionsPerHost: 1)
        var patient = get(origin.url("/slow"))
        patient.deadlines.firstByte = .seconds(30)
        var brief = get(origin.url("/next"))
        (brief.deadlines.resolve, brief.deadlines.connect) = (.milliseconds(100), .milliseconds(100))
        (brief.deadlines.firstByte, brief.deadlines.whole) = (.milliseconds(400), .milliseconds(500))
        brief.deadlines.waits = .seconds(30)
        async let first = client.execute(patient, into: Collector())
        await gate.arrivals(1)
        var hasty = brief
        hasty.deadlines.waits = nil
        async let none: Void = expect(.deadline(.whole), of: client, hasty)
        async let second = client.execute(brief, into: Collector())
        // Something else must show that the brief one's deadlines would have passed: a transfer that has just those.
        let silent = try BrokenOrigin(.silence)
        var probe = get(silent.url())
        probe.deadlines.firstByte = .milliseconds(900)
        await expect(.deadline(.waiting), of: client, probe)
        await none
        gate.open()
        #expect(try await first.head.status == 200)
        #expect(try await second.head.status == 200)
    }

    @Test("A head over the limit ends the transfer")
    func head() async throws {
        let line = "X-Some: \(String(repeating: "x", count: 1000))\r\n"
        let origin = try BrokenOrigin(.answer("HTTP/1.1 200 OK\r\n\(String(repeating: line, count: 40))\r\n"))
        await expect(.headTooLarge(limit: 32 << 10), of: HTTPClient(), get(origin.url()))
    }

    @Test("Headers come in lower case, without blanks, of the final answer only")
    func headers() async throws {
        let origin = try BrokenOrigin(
            .answer(
                "HTTP/1.1 103 Early\r\nX-Early: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-Some:  thing \r\nContent-Length: 2\r\n\r\nok"
            ))
        let body = Collector()
        let response = try await HTTPClient().execute(get(origin.url()), into: body)
        #expect(response.head.header("x-some") == "thing")
        #expect(response.head.header("x-early") == nil)
        #expect(response.head.contentLength == 2)
        #expect(body.bytes == Array("ok".utf8))
    }

    @Test("A cancelled task ends its transfer at once")
    func cancel() async throws {
        let origin = try LocalOrigin()
        let gate = Gate()
        origin.serve("/", .gated(gate, .bytes([1])))
        let client = HTTPClient()
        let transfer = Task { try await client.execute(get(origin.url("/")), into: Collector()) }
        await gate.arrivals(1)
        let start = ContinuousClock.now
        transfer.cancel()
        await #expect(throws: HTTPFailure.cancelled) { try await transfer.value }
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    @Test(
        "Invalid URLs, and URLs that name a user, are refused",
        arguments: [
            "http://", "http://exa mple.com/", "http://user:secret@127.0.0.1/", "http://127.0.0.1:99999/",
            "http://[::1/",
            "ftp://127.0.0.1/", "http://127.0.0.1/\u{1}",
        ])
    func refused(url: String) async throws {
        await #expect(throws: HTTPFailure.self) { try await HTTPClient().execute(get(url), into: Collector()) }
    }
}
