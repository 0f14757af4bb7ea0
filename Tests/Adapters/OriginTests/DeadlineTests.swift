import Canonical
import Clocks
import Failures
import HTTP
import ImageModel
import Ports
import Posix
import TestSupport
import Testing

@testable import Origin

@Suite("Deadlines of a fetch", .timeLimit(.minutes(1)))
struct DeadlineTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"

    private func phase(
        of behaviour: BrokenOrigin.Behaviour, _ set: (inout HTTPDeadlines) -> Void
    ) async throws -> HTTPPhase? {
        let origin = try BrokenOrigin(behaviour)
        var configuration = OriginConfiguration.loopback
        set(&configuration.settings.deadlines)
        let fetcher = GuardedFetcher(configuration)
        let failure = await #expect(throws: FetchFailure.self) {
            try await fetcher.source(FetchRequest(url: origin.url(), lane: .fast))
        }
        #expect(failure?.verdict == .retry)
        guard case .deadline(_, let phase) = failure else { return nil }
        return HTTPPhase(rawValue: phase)
    }

    @Test("Silence ends at the first byte's")
    func firstByte() async throws {
        #expect(try await phase(of: .silence) { $0.firstByte = .milliseconds(150) } == .waiting)
    }

    @Test("A body that stalls, or drips, ends at the whole's")
    func whole() async throws {
        #expect(try await phase(of: .stall(Self.head)) { $0.whole = .milliseconds(200) } == .whole)
        #expect(try await phase(of: .drip(Array(Self.head.utf8), every: 5)) { $0.whole = .milliseconds(200) } == .whole)
    }

    @Test("A drip ends when it was too slow for long enough")
    func flow() async throws {
        let phase = try await phase(of: .drip(Array(Self.head.utf8), every: 20)) { $0.flowWindow = .milliseconds(200) }
        #expect(phase == .flow)
    }

    @Test("Headers that never end are a body that never comes")
    func endlessHead() async throws {
        #expect(
            try await phase(of: .drip(Array("HTTP/1.1 200 OK\r\nX: ".utf8), every: 5)) { $0.whole = .milliseconds(200) }
                == .whole)
    }

    @Test("A head that drips is waited for no longer than silence")
    func drippingHead() async throws {
        let head = Array("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nX: ".utf8)
        #expect(try await phase(of: .drip(head, every: 5)) { $0.firstByte = .milliseconds(200) } == .waiting)
    }

    @Test("An unwanted body that drips leaves its status standing")
    func drippingError() async throws {
        let origin = try BrokenOrigin(.drip(Array("HTTP/1.1 404 No\r\nContent-Length: 1000\r\n\r\n".utf8), every: 20))
        var configuration = OriginConfiguration.loopback
        configuration.settings.deadlines.flowWindow = .milliseconds(200)
        await #expect(throws: FetchFailure.status(url: SourceURL(origin.url()), 404)) {
            try await GuardedFetcher(configuration).source(FetchRequest(url: origin.url(), lane: .fast))
        }
    }

    @Test("A cancelled fetch ends at once, and gives its share of the budget back")
    func cancel() async throws {
        let origin = try LocalOrigin()
        let gate = Gate()
        origin.serve("/", .gated(gate, .bytes([1])))
        let fetcher = GuardedFetcher.ofLoopback()
        let fetch = Task { try await fetcher.source(FetchRequest(url: origin.url("/"), lane: .fast)) }
        await gate.arrivals(1)
        fetch.cancel()
        await #expect(throws: FetchFailure.cancelled) { try await fetch.value }
        #expect(fetcher.budget.used == 0)
    }

    @Test("A fetch that is cancelled before the deadline of its phase blames no host, however long it took to connect")
    func abandoned() async throws {
        let origin = try BrokenOrigin(.silence)
        var configuration = OriginConfiguration.loopback
        configuration.settings.deadlines.connect = .milliseconds(300)
        let fetcher = GuardedFetcher(configuration)
        let fetch = Task { try await fetcher.source(FetchRequest(url: origin.url(), lane: .fast)) }
        try await eventually { origin.connectionCount == 1 }
        let connected = SystemTime.monotonic
        try await eventually { SystemTime.monotonic - connected > .milliseconds(400) }
        fetch.cancel()
        await #expect(throws: FetchFailure.cancelled) { try await fetch.value }
    }
}
