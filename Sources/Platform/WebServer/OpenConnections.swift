/// Connections that are open, in the order in which each began to wait for its client: to connect, or after an answer.
///
/// Where one more comes than there may be, the one that has waited longest makes room. So nobody who connects and asks at
/// once is kept out by those who connect and drip, however many they are and wherever they are.
struct OpenConnections<ID: Hashable> {
    private let limit: Int
    /// By connection, the turn at which it began to wait.
    private var turns: [ID: Int] = [:]
    /// In order; of a connection that has waited again since, or is gone, the entry means nothing.
    private var queue: [(id: ID, turn: Int)] = []
    private var first = 0
    private var turn = 0

    init(limit: Int) { self.limit = max(1, limit) }

    var count: Int { turns.count }
    /// What the order is kept by.
    var remembered: Int { queue.count }

    /// Returns the one that makes room: it counts no more.
    mutating func opened(_ id: ID) -> ID? {
        let longest = turns.count >= limit ? takeLongest() : nil
        waits(id)
        return longest
    }

    /// It was answered, and may ask again.
    mutating func answered(_ id: ID) { if turns[id] != nil { waits(id) } }

    mutating func closed(_ id: ID) { turns[id] = nil }

    private mutating func waits(_ id: ID) {
        turn += 1
        turns[id] = turn
        queue.append((id, turn))
        guard queue.count > 2 * turns.count + 64 else { return }
        queue = queue[first...].filter { turns[$0.id] == $0.turn }
        first = 0
    }

    private mutating func takeLongest() -> ID? {
        while first < queue.count {
            let entry = queue[first]
            first += 1
            if turns[entry.id] == entry.turn {
                turns[entry.id] = nil
                return entry.id
            }
        }
        return nil
    }
}
