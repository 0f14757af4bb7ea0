/// Open connections, in the order in which each began to wait for its client: after connecting, or after a response.
///
/// If there is one connection too many, the one that has waited longest is closed. So clients that connect and request
/// at once are never kept out by clients that connect and send slowly, in any number and from any address.
struct OpenConnections<ID: Hashable> {
    private let limit: Int
    /// For each connection, the turn at which it began to wait.
    private var turns: [ID: Int] = [:]
    /// Queue in order; an entry is void if its connection has waited again since, or is gone.
    private var queue: [(id: ID, turn: Int)] = []
    private var first = 0
    private var turn = 0

    init(limit: Int) { self.limit = max(1, limit) }

    var count: Int { turns.count }
    /// Length of the queue.
    var remembered: Int { queue.count }

    /// Adds a connection; returns the one to close, which is no longer counted.
    mutating func opened(_ id: ID) -> ID? {
        let longest = turns.count >= limit ? takeLongest() : nil
        waits(id)
        return longest
    }

    /// Marks a response: the client may send another request.
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
