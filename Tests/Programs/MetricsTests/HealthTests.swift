import Foundation
import Glibc
import Posix
import Records
import TestSupport
import TestWorkplace
import Testing

@Suite("A worker's health", .timeLimit(.minutes(2)))
struct HealthTests {
    private static let listen = "metrics.listen=127.0.0.1:0"

    @Test("A thousand connections that drip, and come back at once, shut nobody out: most answers come within 100 ms")
    func dripping() async throws {
        OpenFileLimit.raise()
        let place = try Workplace()
        let worker = try place.worker([Self.listen], untilIdle: false)
        defer { worker.signal(SIGKILL) }
        let address = try await worker.metricsAddress()
        let drip = DrippingClients(1_000, port: try #require(URL(string: address)?.port))
        while drip.connects < 1_500 { await Task.yield() }
        var waits: [Duration] = []
        for _ in 0..<50 {
            let begun = ContinuousClock.now
            #expect(try await Asked(address + "/healthz").status == 200)
            waits.append(ContinuousClock.now - begun)
        }
        waits.sort()
        print("/healthz of a worker among 1,000 that drip: \(waits[25]) in the middle, \(waits[49]) at most")
        // Other tests have the processor, too: some answers may come later.
        #expect(waits[25] < .milliseconds(100) && waits[49] < .seconds(5))
    }

    @Test("A worker whose work hangs says which, and lives again when it comes on")
    func hanging() async throws {
        let hung = try await HungStore(Self.listen)
        let begun = ContinuousClock.now
        let address = try await hung.worker.metricsAddress()
        try await eventually { try await Asked(address + "/healthz").status == 503 }
        let text = try await Asked(address + "/healthz").text
        #expect(text.hasPrefix("1 of 1 sources that are being stored have not come on, one for "), "\(text)")
        let metrics = try await hung.worker.metrics()
        #expect(try metrics.value("mezzotint_step_sources", "step=\"store\"") == 1)
        #expect(try metrics.value("mezzotint_step_oldest_seconds", "step=\"store\"") > 1)
        let watch = try await hung.place.lagwatch("watch.workers=\(address.dropFirst("http://".count))")
        let sentence = try await watch.tells("store-halted").sentence
        let waited = ContinuousClock.now - begun
        print("lagwatch names a store that hangs after \(waited)")
        #expect(waited < .seconds(30))
        #expect(sentence.hasPrefix("The store does not respond: the source that the worker at 127.0.0.1:"), "\(sentence)")
        hung.halted.release()
        try await eventually { try await Asked(address + "/healthz").status == 200 }
        try await eventually { try await watch.state().cause == "fine" }
        try await eventually { try await hung.place.outcomes().map(\.kind) == [.stored, .stored] }
    }
}
