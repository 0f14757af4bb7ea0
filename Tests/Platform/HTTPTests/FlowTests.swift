import Clocks
import Synchronization
import TestSupport
import Testing

@testable import HTTP

@Suite("The floor of a body's flow", .timeLimit(.minutes(1)))
struct FlowTests {
    /// Bytes that came, and when, in tenths of a second.
    @Test(
        "100 bytes in each window of a second, or it is too slow",
        arguments: [
            (came: [(0, 99)], looked: 9, isBroken: false), (came: [(0, 99)], looked: 10, isBroken: true),
            (came: [(0, 100)], looked: 10, isBroken: false), (came: [(9, 100)], looked: 10, isBroken: false),
            (came: [(0, 100), (11, 99)], looked: 20, isBroken: true),
            (came: [(0, 100), (11, 100)], looked: 20, isBroken: false),
            // What came before does not count for later.
            (came: [(0, 100_000)], looked: 20, isBroken: true), (came: [], looked: 10, isBroken: true),
        ])
    func windows(came: [(Int, Int)], looked: Int, isBroken: Bool) {
        var isEarly = false
        var floor = FlowFloor(bytesPerSecond: 100, window: 1_000, from: 5_000)
        for tenth in 0...looked {
            let now = Instant(milliseconds: 5_000 + Int64(tenth) * 100)
            let isNow = floor.isBroken(at: now)
            if tenth == looked { #expect(isNow == isBroken) } else { isEarly = isEarly || isNow }
            for (at, count) in came where at == tenth { floor.took(count) }
        }
        #expect(!isEarly)
    }

    @Test("A floor of nothing is never broken")
    func none() {
        var floor = FlowFloor(bytesPerSecond: 0, window: 1, from: 0)
        let isBroken = floor.isBroken(at: 1_000_000)
        #expect(!isBroken)
    }

    /// Asks for a pause at the first bytes.
    private final class Pausing: HTTPSink {
        let paused = Gate()
        private let state = Mutex<(resume: @Sendable () -> Void, hasPaused: Bool, count: Int)>(({}, false, 0))
        var count: Int { state.withLock { $0.count } }

        func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadDecision {
            state.withLock { $0.resume = resume }
            return .take
        }

        func receive(_ bytes: UnsafeRawBufferPointer) -> SinkDecision {
            let isFirst = state.withLock { state in
                defer { state.hasPaused = true }
                if state.hasPaused { state.count += bytes.count }
                return !state.hasPaused
            }
            if isFirst { paused.open() }
            return isFirst ? .pause : .take
        }

        func goOn() { state.withLock { $0.resume }() }
    }

    @Test("Time in which the sink paused the transfer does not count")
    func pause() async throws {
        // 70 bytes come in 1.4 s, of which the pause takes the most; a window that ends before they are here brings too few.
        let origin = try BrokenOrigin(.drip(Array("HTTP/1.1 200 OK\r\nContent-Length: 71\r\n\r\n.".utf8), every: 20))
        let client = HTTPClient()
        var request = HTTPRequest(origin.url(), userAgent: "test") { _ in true }
        (request.deadlines.flowWindow, request.deadlines.flowFloor) = (.seconds(1), 1000)
        let sink = Pausing()
        async let response = client.execute(request, into: sink)
        await sink.paused.wait()
        // Another transfer's deadline shows that more than a window has passed.
        let silent = try BrokenOrigin(.silence)
        var probe = HTTPRequest(silent.url(), userAgent: "test") { _ in true }
        probe.deadlines.firstByte = .milliseconds(1100)
        await #expect(throws: HTTPFailure.deadline(.waiting)) { try await client.execute(probe, into: Pausing()) }
        sink.goOn()
        #expect(try await response.head.status == 200)
        #expect(sink.count == 71)
    }
}
