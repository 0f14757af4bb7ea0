import Foundation
import Glibc
import HTTP
import Posix
import Synchronization
import TestSupport
import Testing
import WebServer

/// Connections that send a byte of a head now and then, and come back when they are closed.
private final class Drip: Sendable {
    private let port: Int
    private let count: Int
    private let isOver = Atomic(false)
    /// Connections that stand, when all were last looked at.
    let standing = Atomic(0)
    let reconnects = Atomic(0)

    init(port: Int, count: Int) { (self.port, self.count) = (port, count) }

    func stop() { isOver.store(true, ordering: .relaxed) }

    func run() {
        var sockets = [Int32](repeating: -1, count: count)
        defer { for socket in sockets where socket >= 0 { close(socket) } }
        let head = Array("GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ".utf8)
        while !isOver.load(ordering: .relaxed) {
            var standing = 0
            for place in sockets.indices {
                if sockets[place] < 0 {
                    sockets[place] = connected()
                    _ = send(sockets[place], head, head.count, Int32(MSG_NOSIGNAL))
                    reconnects.add(1, ordering: .relaxed)
                } else if send(sockets[place], "a", 1, Int32(MSG_NOSIGNAL)) < 0, errno != EAGAIN {
                    close(sockets[place])
                    sockets[place] = -1
                    continue
                }
                standing += 1
            }
            self.standing.store(standing, ordering: .relaxed)
        }
    }

    private func connected() -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), UInt16(port).bigEndian)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            return -1
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return descriptor
    }
}

private final class Nothing: HTTPSink {
    func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadAnswer { .take }
    func receive(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer { .take }
}

@Suite("The web server among hostile clients", .timeLimit(.minutes(1)))
struct HostileClientsTests {
    /// As the worker's metrics are served: they, too, have one address for all.
    @Test("A thousand connections that drip, and come back at once, keep nobody waiting for 100 ms")
    func dripping() async throws {
        OpenFileLimit.raise()
        let limits = WebServer.Limits(connections: 512, waiting: 16, memory: 8 << 10)
        let server = try WebServer(limits: limits) { _ in .text("lives") }
        let drip = Drip(port: server.port, count: 1_000)
        let thread = Thread { drip.run() }
        thread.start()
        defer { drip.stop() }
        while drip.reconnects.load(ordering: .relaxed) < 1_500 { await Task.yield() }
        var slowest = Duration.zero
        for _ in 0..<100 {
            // A connection of its own each time, as a prober's.
            let request = HTTPRequest("\(server.address)/healthz", userAgent: "test") { _ in true }
            let begun = ContinuousClock.now
            #expect(try await HTTPClient().execute(request, into: Nothing()).head.status == 200)
            slowest = max(slowest, ContinuousClock.now - begun)
        }
        print(
            "healthz among 1,000 that drip: \(slowest) at most; \(drip.reconnects.load(ordering: .relaxed)) came back")
        #expect(slowest < .milliseconds(100))
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
