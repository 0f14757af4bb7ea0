import TestSupport
import Testing

@testable import Origin

/// A book that expectations can write in.
private final class Ledger {
    private(set) var book: BudgetBook
    init(limit: Int) { book = BudgetBook(limit: limit) }

    func enter(_ id: Int, for host: String, with bytes: Int) -> Bool { book.enter(id, for: host, with: bytes) }
    func begin(_ id: Int) { book.begin(id) }
    func grow(_ id: Int, to bytes: Int) -> Bool { book.grow(id, to: bytes) }
    func settle(_ id: Int, at bytes: Int) -> BudgetBook.Granted { book.settle(id, at: bytes) }
    func leave(_ id: Int) -> BudgetBook.Granted { book.leave(id) }
}

@Suite("The rules of the byte budget", .timeLimit(.minutes(1)))
struct BudgetBookTests {
    /// Enters with 1 of its host, and its body begins.
    private func begin(_ id: Int, _ host: String, _ ledger: Ledger) {
        #expect(ledger.enter(id, for: host, with: 1))
        ledger.begin(id)
    }

    @Test("Bytes are spent as they come, not as they are declared")
    func asTheyCome() {
        let ledger = Ledger(limit: 100)
        for id in 0..<32 { begin(id, "host \(id)", ledger) }
        #expect(ledger.book.used == 32)
        #expect(ledger.grow(7, to: 30))
        #expect(ledger.book.used == 61)
        #expect(ledger.settle(7, at: 20) == BudgetBook.Granted())
        #expect(ledger.book.used == 51)
        #expect(ledger.leave(7) == BudgetBook.Granted())
        #expect((ledger.book.used, ledger.book.peak) == (31, 61))
    }

    @Test("The body that began first goes on beyond the limit, the next once the first is gone")
    func overdraft() {
        let ledger = Ledger(limit: 100)
        // Entered before all others, but its body has not begun: it holds nobody up.
        #expect(ledger.enter(0, for: "queued", with: 1))
        for id in 1...4 { begin(id, "host \(id)", ledger) }
        for id in 1...3 { #expect(ledger.grow(id, to: 30)) }
        #expect(!ledger.grow(2, to: 40))
        #expect(!ledger.grow(4, to: 10))
        #expect(ledger.grow(1, to: 80))
        #expect(ledger.book.used == 142)
        // Whole, but kept: the others are beyond the limit still, so that a second does not overdraw beside it.
        #expect(ledger.settle(1, at: 80) == BudgetBook.Granted())
        #expect(ledger.leave(1) == BudgetBook.Granted(grown: [2, 4]))
        #expect(ledger.book.used == 81)
    }

    @Test("One host has half, though the rest is free; the body that began first of it goes on")
    func half() {
        let ledger = Ledger(limit: 100)
        begin(1, "a", ledger)
        begin(2, "a", ledger)
        #expect(ledger.grow(1, to: 25))
        #expect(ledger.grow(2, to: 25))
        #expect(!ledger.grow(2, to: 26))
        #expect(ledger.grow(1, to: 40))
        #expect(ledger.book.bytes(ofHost: "a") == 65)
        // Another of the host waits to enter, and others pass it.
        #expect(!ledger.enter(3, for: "a", with: 1))
        #expect(ledger.enter(4, for: "b", with: 1))
        #expect(ledger.book.waitingToEnter == 1)
        #expect(ledger.leave(1) == BudgetBook.Granted(grown: [2], entered: [3]))
        #expect(ledger.book.bytes(ofHost: "a") == 27)
        #expect(ledger.book.bytes(ofHost: "none") == 0)
    }

    @Test("Nobody enters while one that is here waits for the limit, and all do after it")
    func entry() {
        let ledger = Ledger(limit: 10)
        begin(1, "a", ledger)
        begin(2, "b", ledger)
        #expect(ledger.grow(1, to: 5))
        #expect(ledger.grow(2, to: 4))
        #expect(!ledger.grow(2, to: 6))
        #expect(!ledger.enter(3, for: "c", with: 1))
        #expect(!ledger.enter(4, for: "d", with: 1))
        #expect(ledger.leave(4) == BudgetBook.Granted())
        #expect(ledger.leave(1) == BudgetBook.Granted(grown: [2], entered: [3]))
        #expect(ledger.book.used == 7)
    }

    @Test("A limit smaller than one share lets one in, whose body comes whole")
    func tiny() {
        let ledger = Ledger(limit: 2)
        #expect(ledger.enter(1, for: "a", with: 2))
        #expect(!ledger.enter(2, for: "b", with: 2))
        ledger.begin(1)
        #expect(ledger.grow(1, to: 9))
        #expect(ledger.settle(1, at: 9) == BudgetBook.Granted())
        #expect(ledger.leave(1) == BudgetBook.Granted(entered: [2]))
    }

    /// Bodies of three hosts with two connections each, fed by chance, kept for a while once they are whole.
    @Test("However bodies grow, all come whole, within the limit and one body", arguments: 0..<300)
    func nobodyWaitsForEver(seed: Int) throws {
        enum Stage { case outside, entered, receiving, paused, kept, gone }
        var random = SeededRandom(seed: UInt64(seed))
        let largest = 20
        var book = BudgetBook(limit: Int.random(in: largest...60, using: &random))
        var bodies = (0..<25).map { _ in
            (
                host: "\(Int.random(in: 0..<3, using: &random))", size: Int.random(in: 1...largest, using: &random),
                came: 0, stage: Stage.outside
            )
        }
        for id in bodies.indices where book.enter(id, for: bodies[id].host, with: 2) { bodies[id].stage = .entered }
        while bodies.contains(where: { $0.stage != .gone }) {
            let movable = bodies.indices.filter { id in
                switch bodies[id].stage {
                case .outside, .paused, .gone: false
                case .receiving, .kept: true
                case .entered:
                    // Behind those that have the host's connections.
                    bodies.count { $0.host == bodies[id].host && [.receiving, .paused].contains($0.stage) } < 2
                }
            }
            let id = try #require(movable.randomElement(using: &random), "all wait for each other")
            var granted = BudgetBook.Granted()
            switch bodies[id].stage {
            case .entered:
                book.begin(id)
                bodies[id].stage = .receiving
            case .receiving where bodies[id].came == bodies[id].size:
                granted = book.settle(id, at: bodies[id].size)
                bodies[id].stage = .kept
            case .receiving:
                if bodies[id].came < book.bytes(of: id) {
                    bodies[id].came += 1
                } else if !book.grow(id, to: min(largest, book.bytes(of: id) + 2)) {
                    bodies[id].stage = .paused
                }
            default:
                granted = book.leave(id)
                bodies[id].stage = .gone
            }
            for id in granted.grown { bodies[id].stage = .receiving }
            for id in granted.entered { bodies[id].stage = .entered }
            try #require(book.used <= book.limit + largest)
            for host in ["0", "1", "2"] { try #require(book.bytes(ofHost: host) <= book.hostLimit + largest) }
            try #require(book.used == bodies.indices.map { book.bytes(of: $0) }.reduce(0, +))
        }
        #expect(book.used == 0)
    }
}
