import Foundation
import HTTP
import Synchronization
import TestSupport
import Testing
import WebServer

/// A body as text.
private final class Text: HTTPSink {
    private let kept = Mutex<[UInt8]>([])
    var value: String { kept.withLock { String(decoding: $0, as: UTF8.self) } }

    func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadDecision { .take }

    func receive(_ bytes: UnsafeRawBufferPointer) -> SinkDecision {
        kept.withLock { $0 += bytes }
        return .take
    }
}

@Suite("The web server", .timeLimit(.minutes(1)))
struct WebServerTests {
    private func get(_ url: String, headers: [String] = []) async throws -> (status: Int, head: HTTPHead, text: String)
    {
        var request = HTTPRequest(url, userAgent: "test") { _ in true }
        request.headers = headers
        let text = Text()
        let response = try await HTTPClient().execute(request, into: text)
        return (response.head.status, response.head, text.value)
    }

    @Test("A request comes as it was sent, path decoded, query not")
    func request() async throws {
        let server = try WebServer {
            .text("\($0.method) \($0.path) \($0.query ?? "none") \($0.headers["x-some"] ?? "none")")
        }
        let answer = try await get("\(server.address)/a%20b/%zz/%41?x=%20&y", headers: ["X-Some: thing"])
        #expect(answer.text == "GET /a b/%zz/A x=%20&y thing")
        #expect(try await get("\(server.address)/plain").text == "GET /plain none none")
        #expect(server.requestCount == 2)
    }

    @Test("Status, headers and bytes go out")
    func response() async throws {
        let server = try WebServer { _ in
            .init(status: 418, headers: [("X-A", "1"), ("X-B", "2")], .bytes(Array("short".utf8)))
        }
        let answer = try await get(server.address)
        #expect(answer.status == 418)
        #expect(answer.head.header("x-a") == "1")
        #expect(answer.head.header("x-b") == "2")
        #expect(answer.head.contentLength == 5)
        #expect(answer.text == "short")
    }

    @Test("A file is sent whole; what is no file is not found")
    func files() async throws {
        let folder = try TemporaryFolder()
        let text = String(repeating: "0123456789", count: 100_000)
        try text.write(toFile: folder.file("a.txt"), atomically: false, encoding: .utf8)
        let server = try WebServer { [path = folder.path] in .init(.file(path: path + $0.path)) }
        #expect(try await get("\(server.address)/a.txt").text == text)
        for missing in ["/b.txt", "/"] { #expect(try await get(server.address + missing).status == 404) }
    }

    @Test("What is answered later holds nobody else up")
    func later() async throws {
        let gate = Gate()
        let server = try WebServer { request in
            guard request.path == "/later" else { return .text("now") }
            return .init(
                .later {
                    await gate.wait()
                    return .text("later")
                })
        }
        async let late = get("\(server.address)/later")
        await gate.arrivals(1)
        #expect(try await get("\(server.address)/now").text == "now")
        gate.open()
        #expect(try await late.text == "later")
    }

    @Test("Stopping answers what is still waited for, and does not wait for it")
    func stop() async throws {
        let gate = Gate()
        let server = try WebServer { _ in
            .init(
                .later {
                    await gate.wait()
                    return .text("too late")
                })
        }
        async let first = try? get(server.address)
        async let second = try? get(server.address)
        await gate.arrivals(2)
        server.stop()
        server.stop()
        // 503, or a connection closed before it could be said.
        for answer in await [first, second] { #expect(answer == nil || answer?.status == 503) }
        await #expect(throws: HTTPFailure.self) { _ = try await get(server.address) }
    }

    @Test("A client that leaves cancels what was to be answered later, once its connection is looked at")
    func leaving() async throws {
        let gate = Gate()
        let server = try WebServer { _ in
            .init(
                .later {
                    await gate.wait()
                    return .text("nobody hears")
                })
        }
        let request = Task { try await get(server.address) }
        await gate.arrivals(1)
        request.cancel()
        _ = try? await request.value
        gate.open()
        // The server goes on.
        #expect(try await get(server.address).status == 200)
    }

    @Test("It listens on the address that it is given, and on no other", arguments: ["127.0.0.2", "::1"])
    func hosts(host: String) async throws {
        let server = try WebServer(host: host) { _ in .text("here") }
        #expect(try await get(server.address).text == "here")
        await #expect(throws: HTTPFailure.self) { _ = try await get("http://127.0.0.1:\(server.port)") }
    }

    @Test("An address of another machine, and an invalid one, are refused", arguments: ["192.0.2.1", "localhost", ""])
    func strangers(host: String) {
        let failure = #expect(throws: WebServerFailure.self) { _ = try WebServer(host: host) { _ in .notFound } }
        #expect(failure?.description.hasPrefix("Cannot listen on port ") == true)
        #expect(failure?.description.hasSuffix(" Name an address of this machine, or 0.0.0.0 or [::] for all of them.") == true)
    }

    @Test("A port that is taken says so")
    func taken() throws {
        let server = try WebServer { _ in .notFound }
        let failure = #expect(throws: WebServerFailure.self) { _ = try WebServer(port: server.port) { _ in .notFound } }
        #expect(failure?.description.contains("port \(server.port) of 127.0.0.1") == true)
        #expect(failure?.description.contains("Address already in use") == true)
        #expect(throws: WebServerFailure.self) { _ = try WebServer(port: 70_000) { _ in .notFound } }
    }
}
