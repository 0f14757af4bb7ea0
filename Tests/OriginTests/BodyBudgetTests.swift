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
        var lease = await budget.enter(with: 4)
        #expect(lease?.grow(to: 9) {} == true)
        #expect(budget.used == 9)
        lease?.settle(at: 6)
        #expect(budget.used == 6)
        lease = nil
        #expect(budget.used == 0)
        #expect(budget.peak == 9)
    }

    @Test("One may overdraw, a second waits until others are gone")
    func overdraft() async throws {
        let budget = BodyBudget(limit: 10)
        var first = await budget.enter(with: 5)
        let second = try #require(await budget.enter(with: 5))
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
        var holder = await budget.enter(with: 10)
        let waiting = Task { await budget.enter(with: 1) }
        waiting.cancel()
        #expect(await waiting.value == nil)
        holder = nil
        #expect(budget.used == 0)
        _ = holder
    }

    @Test("Growth that waits is forgotten with its lease")
    func forgottenGrowth() async throws {
        let budget = BodyBudget(limit: 10)
        let overdrawn = try #require(await budget.enter(with: 2))
        var second = await budget.enter(with: 2)
        #expect(overdrawn.grow(to: 20) {})
        let isAtOnce = second?.grow(to: 9) { Issue.record("granted to a lease that is gone") }
        #expect(isAtOnce == false)
        second = nil
        overdrawn.settle(at: 1)
        #expect(budget.used == 1)
    }

    @Test("Many large bodies at once stay within the budget and one body", arguments: [true, false])
    func fetches(isDeclared: Bool) async throws {
        let size = 3 << 20
        let head = isDeclared ? "Content-Length: \(size)" : "Connection: close"
        let origin = try BrokenOrigin(.answer(Array("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n".utf8) + Bytes.pattern(size)))
        var configuration = OriginConfiguration.loopback
        (configuration.byteLimit, configuration.memoryBudget) = (4 << 20, 8 << 20)
        let fetcher = GuardedFetcher(configuration)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<40 {
                group.addTask { try await fetcher.fetch(FetchRequest(url: origin.url(), lane: .slow)).body.length }
            }
            for try await length in group { #expect(length == size) }
        }
        #expect(fetcher.budget.peak <= 12 << 20)
        #expect(fetcher.budget.peak > 4 << 20)
        #expect(fetcher.budget.used == 0)
    }

    @Test("A body that is kept keeps its share, and the next fetch waits for it")
    func keptBodies() async throws {
        let origin = try LocalOrigin()
        origin.serve("/", .bytes(Bytes.pattern(2 << 20)))
        var configuration = OriginConfiguration.loopback
        (configuration.byteLimit, configuration.memoryBudget) = (2 << 20, 2 << 20)
        let fetcher = GuardedFetcher(configuration)
        var kept: FetchedSource? = try await fetcher.fetch(FetchRequest(url: origin.url("/"), lane: .fast))
        let next = Task { try await fetcher.fetch(FetchRequest(url: origin.url("/"), lane: .fast)).body.length }
        while fetcher.budget.waiting == 0 { await Task.yield() }
        #expect(origin.requestCount == 1)
        #expect(kept?.body.length == 2 << 20)
        kept = nil
        #expect(try await next.value == 2 << 20)
    }
}
