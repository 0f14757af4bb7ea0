import Foundation
import Glibc
import HTTP
import Posix
import TestSupport
import Testing
import WebServer

private final class Nothing: HTTPSink {
    func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadDecision { .take }
    func receive(_ bytes: UnsafeRawBufferPointer) -> SinkDecision { .take }
}

@Suite("The web server among hostile clients", .timeLimit(.minutes(1)))
struct HostileClientsTests {
    /// As the worker's metrics are served: they, too, have one address for all.
    @Test("A thousand connections that drip, and come back at once, keep nobody waiting for 100 ms")
    func dripping() async throws {
        OpenFileLimit.raise()
        let limits = WebServer.Limits(connections: 512, waiting: 16, memory: 8 << 10)
        let server = try WebServer(limits: limits) { _ in .text("lives") }
        let drip = DrippingClients(1_000, port: server.port)
        while drip.connects < 1_500 { await Task.yield() }
        var waits: [Duration] = []
        for _ in 0..<100 {
            // A connection of its own each time, as a prober's.
            let request = HTTPRequest("\(server.address)/healthz", userAgent: "test") { _ in true }
            let begun = ContinuousClock.now
            #expect(try await HTTPClient().execute(request, into: Nothing()).head.status == 200)
            waits.append(ContinuousClock.now - begun)
        }
        waits.sort()
        print("healthz among 1,000 that drip: \(waits[50]) in the middle, \(waits[99]) at most; \(drip.connects) connected")
        // Other tests have the processor, too: one answer in many may come later.
        #expect(waits[89] < .milliseconds(100) && waits[99] < .seconds(5))
    }

    @Test(
        "A request that two servers may read in two ways is refused, and its connection is over",
        arguments: [
            "Host: a\r\nHost: b", "Host: a\r\nContent-Length: 0\r\nContent-Length: 5",
            "Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
        ])
    func ambiguous(headers: String) async throws {
        let server = try WebServer { _ in .text("lives") }
        let answer = try Self.answer(
            to: "POST / HTTP/1.1\r\n\(headers)\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", port: server.port)
        #expect(answer.hasPrefix("HTTP/1.1 400 ") && !answer.contains("lives"), "\(answer)")
    }

    /// What comes until the server closes the connection, or says nothing for a second.
    private static func answer(to request: String, port: Int) throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), UInt16(port).bigEndian)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(status == 0)
        var wait = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        let sent = Array(request.utf8)
        try #require(send(descriptor, sent, sent.count, Int32(MSG_NOSIGNAL)) == sent.count)
        var (answer, part) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while case let count = recv(descriptor, &part, part.count, 0), count > 0 { answer += part[..<count] }
        return String(decoding: answer, as: UTF8.self)
    }

    @Test("Those whose answers come later are few, and others are told so at once")
    func waiting() async throws {
        let gate = Gate()
        let server = try WebServer(limits: WebServer.Limits(connections: 8, waiting: 2)) { _ in
            .init(
                .later {
                    await gate.wait()
                    return .text("later")
                })
        }
        func get() async throws -> Int {
            let request = HTTPRequest(server.address, userAgent: "test") { _ in true }
            return try await HTTPClient().execute(request, into: Nothing()).head.status
        }
        async let first = get()
        async let second = get()
        await gate.arrivals(2)
        #expect(try await get() == 503)
        gate.open()
        #expect(try await [first, second] == [200, 200])
        #expect(try await get() == 200)
    }
}
