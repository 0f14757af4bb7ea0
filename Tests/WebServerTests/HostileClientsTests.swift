import Foundation
import HTTP
import Posix
import TestSupport
import Testing
import WebServer

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
        #expect(waits[89] < .milliseconds(100) && waits[99] < .seconds(1))
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
