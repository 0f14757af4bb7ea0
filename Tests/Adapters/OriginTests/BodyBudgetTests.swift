import HTTP
import ImageModel
import Ports
import Posix
import Synchronization
import TestSupport
import Testing

@testable import Origin

@Suite("The byte budget of all bodies", .timeLimit(.minutes(1)))
struct BodyBudgetTests {
    @Test("A share is given back with the last of its holders")
    func release() async throws {
        let budget = BodyBudget(limit: 10)
        var lease = await budget.enter(for: "a", with: 4)
        lease?.begin()
        #expect(lease?.grow(to: 9) {} == true)
        #expect(budget.used == 9)
        #expect(budget.used(by: "a") == 9)
        lease?.settle(at: 6)
        #expect(budget.used == 6)
        lease = nil
        #expect(budget.used == 0)
        #expect(budget.peak == 9)
    }

    @Test("One that waits hears of it once, when others are gone")
    func growth() async throws {
        let budget = BodyBudget(limit: 10)
        var first = await budget.enter(for: "a", with: 5)
        let second = try #require(await budget.enter(for: "b", with: 5))
        first?.begin()
        second.begin()
        #expect(first?.grow(to: 12) {} == true)
        let granted = Mutex(0)
        let isAtOnce = second.grow(to: 8) { granted.withLock { $0 += 1 } }
        #expect(!isAtOnce)
        #expect(granted.withLock { $0 } == 0)
        first = nil
        #expect(granted.withLock { $0 } == 1)
        #expect(budget.used == 8)
    }

    @Test("A waiting entry that is cancelled leaves the queue")
    func cancelledEntry() async throws {
        let budget = BodyBudget(limit: 10)
        var holder = await budget.enter(for: "a", with: 10)
        let waiting = Task { await budget.enter(for: "b", with: 1) }
        waiting.cancel()
        #expect(await waiting.value == nil)
        #expect(budget.waiting == 0)
        holder = nil
        #expect(budget.used == 0)
        _ = holder
    }

    @Test("Growth that waits is forgotten with its lease")
    func forgottenGrowth() async throws {
        let budget = BodyBudget(limit: 10)
        let first = try #require(await budget.enter(for: "a", with: 2))
        var second = await budget.enter(for: "b", with: 2)
        first.begin()
        second?.begin()
        #expect(first.grow(to: 20) {})
        let isAtOnce = second?.grow(to: 9) { Issue.record("granted to a lease that is gone") }
        #expect(isAtOnce == false)
        second = nil
        first.settle(at: 1)
        #expect(budget.used == 1)
    }

    @Test("Many large bodies of some hosts at once stay within the budget and one body", arguments: [true, false])
    func fetches(isDeclared: Bool) async throws {
        let size = 3 << 20
        let head = isDeclared ? "Content-Length: \(size)" : "Connection: close"
        let answer = Array("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n".utf8) + Bytes.pattern(size)
        let origins = try (0..<4).map { _ in try BrokenOrigin(.answer(answer)) }
        var configuration = OriginConfiguration.loopback
        (configuration.settings.byteLimit, configuration.settings.budget) = (4 << 20, 8 << 20)
        let fetcher = GuardedFetcher(configuration)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for i in 0..<40 {
                group.addTask {
                    try await fetcher.source(FetchRequest(url: origins[i % 4].url(), lane: .slow)).body.length
                }
            }
            for try await length in group { #expect(length == size) }
        }
        #expect(fetcher.budget.peak <= 12 << 20)
        #expect(fetcher.budget.peak >= size)
        #expect(fetcher.budget.used == 0)
    }

    @Test("A body that is kept keeps its share, and the next fetch waits for it")
    func keptBodies() async throws {
        let origin = try LocalOrigin()
        origin.serve("/", .bytes(Bytes.pattern(2 << 20)))
        var configuration = OriginConfiguration.loopback
        (configuration.settings.byteLimit, configuration.settings.budget) = (2 << 20, 2 << 20)
        let fetcher = GuardedFetcher(configuration)
        var kept: FetchedSource? = try await fetcher.source(FetchRequest(url: origin.url("/"), lane: .fast))
        let next = Task { try await fetcher.source(FetchRequest(url: origin.url("/"), lane: .fast)).body.length }
        while fetcher.budget.waiting == 0 { await Task.yield() }
        #expect(origin.requestCount == 1)
        #expect(kept?.body.length == 2 << 20)
        kept = nil
        #expect(try await next.value == 2 << 20)
    }

    @Test("Origins that promise more than all may have, and send little, keep nobody out")
    func promises() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(4 << 20)\r\n\r\n"
        let slow = try (0..<32).map { _ in try BrokenOrigin(.stall(head + "abc")) }
        var configuration = OriginConfiguration.loopback
        (configuration.settings.byteLimit, configuration.settings.budget) = (4 << 20, 8 << 20)
        try await innocents(beside: slow, configuration)
    }

    @Test("One host that fills its half keeps no other host out")
    func greed() async throws {
        let half = Array("HTTP/1.1 200 OK\r\nContent-Length: \(3 << 20)\r\n\r\n".utf8) + Bytes.pattern(2 << 20)
        let greedy = try BrokenOrigin(.stall(half))
        var configuration = OriginConfiguration.loopback
        (configuration.settings.byteLimit, configuration.settings.budget) = (3 << 20, 8 << 20)
        try await innocents(beside: Array(repeating: greedy, count: 12), configuration) { fetcher in
            // The first has its 2 MiB and is silent, which nobody ends here; the others have what the half leaves.
            while fetcher.budget.used(by: "http://127.0.0.1:\(greedy.port)") < 4 << 20 - 128 << 10 {
                await Task.yield()
            }
        }
    }

    /// Five fetches of 1 MiB each come whole while one of each of `slow` is under way.
    private func innocents(
        beside slow: [BrokenOrigin], _ configuration: OriginConfiguration,
        once isFull: (GuardedFetcher) async -> Void = { _ in }
    ) async throws {
        var configuration = configuration
        configuration.settings.deadlines.flowFloor = 0
        let fetcher = GuardedFetcher(configuration)
        let origin = try LocalOrigin()
        origin.serve("/", .bytes(Bytes.pattern(1 << 20)))
        let held = slow.map { slow in Task { try await fetcher.source(FetchRequest(url: slow.url(), lane: .slow)) } }
        await isFull(fetcher)
        for slow in Set(slow.map(ObjectIdentifier.init)).compactMap({ id in slow.first { ObjectIdentifier($0) == id } })
        {
            while slow.connectionCount == 0 { await Task.yield() }
        }
        for _ in 0..<5 {
            let source = try await fetcher.source(FetchRequest(url: origin.url("/"), lane: .fast))
            #expect(source.body.length == 1 << 20)
        }
        for held in held { held.cancel() }
        for held in held { await #expect(throws: FetchFailure.cancelled) { try await held.value } }
        #expect(fetcher.budget.used == 0)
    }
}
