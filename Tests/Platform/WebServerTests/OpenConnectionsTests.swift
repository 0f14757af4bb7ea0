import Testing

@testable import WebServer

@Suite("Which connection makes room for another", .timeLimit(.minutes(1)))
struct OpenConnectionsTests {
    @Test("The one that has waited longest for its client")
    func longest() {
        var open = OpenConnections<Int>(limit: 3)
        var closed: [Int?] = []
        for id in 1...4 { closed.append(open.opened(id)) }
        open.answered(2)
        closed.append(open.opened(5))
        open.closed(4)
        for id in 6...7 { closed.append(open.opened(id)) }
        #expect(closed == [nil, nil, nil, 1, 3, nil, 2] && open.count == 3)
        // Those that made room count no more, whatever is still heard of them.
        open.answered(1)
        open.closed(2)
        closed = [open.opened(8)]
        #expect(closed == [5] && open.count == 3)
    }

    @Test("A connection that is answered a million times takes no more memory than one")
    func bounded() {
        var open = OpenConnections<Int>(limit: 2)
        _ = open.opened(0)
        _ = open.opened(1)
        for _ in 0..<100_000 { open.answered(1) }
        let longest = open.opened(2)
        #expect(open.remembered <= 2 * 2 + 65 && longest == 0)
    }
}
