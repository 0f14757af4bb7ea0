/// The rules of the byte budget: who holds how much, who waits, and who goes on once bytes are given back.
///
/// Bytes are spent as they come: a fetch enters with a small share, and its share grows with its body. Together all hold
/// `limit` at most, and those of one host half of it. Bodies that are half here could wait for each other for ever then,
/// so the one that began first may go on beyond the limit, and the first of each host beyond that host's half, as long
/// as all the others are within it: the most in use is the limit and one body. The first of all is held up by nobody
/// else who receives, so it ends within its deadlines, and another is first.
struct BudgetBook: Sendable {
    typealias ID = Int

    /// Who goes on, in this order.
    struct Granted: Equatable {
        var grown: [ID] = []
        var entered: [ID] = []
    }

    private struct Share {
        let host: String
        var bytes: Int
    }

    let limit: Int
    private(set) var used = 0
    /// The most that was in use at one time.
    private(set) var peak = 0
    private var shares: [ID: Share] = [:]
    private var hosts: [String: Int] = [:]
    /// Whose bodies are coming, in the order in which they began.
    private var receiving: [ID] = []
    /// What those wait for that may not grow now.
    private var growing: [ID: Int] = [:]
    private var entering: [(id: ID, host: String, bytes: Int)] = []

    init(limit: Int) { self.limit = limit }

    /// Of one host.
    var hostLimit: Int { limit / 2 }
    var waitingToEnter: Int { entering.count }
    func bytes(of id: ID) -> Int { shares[id]?.bytes ?? 0 }
    func bytes(ofHost host: String) -> Int { hosts[host] ?? 0 }

    /// False if it must wait.
    mutating func enter(_ id: ID, for host: String, with bytes: Int) -> Bool {
        entering.append((id, host, bytes))
        return admit().contains(id)
    }

    /// Its body begins to come.
    mutating func begin(_ id: ID) {
        if shares[id] != nil, !receiving.contains(id) { receiving.append(id) }
    }

    /// False if it must wait.
    mutating func grow(_ id: ID, to bytes: Int) -> Bool {
        guard let share = shares[id], bytes > share.bytes else { return true }
        guard mayGrow(id, to: bytes) else {
            growing[id] = bytes
            return false
        }
        set(id, to: bytes)
        return true
    }

    /// Its body is whole: what it did not need is free, and it is first no more.
    mutating func settle(_ id: ID, at bytes: Int) -> Granted {
        set(id, to: min(bytes, self.bytes(of: id)))
        return stopped(id)
    }

    /// Its share is free, or it waits no more.
    mutating func leave(_ id: ID) -> Granted {
        entering.removeAll { $0.id == id }
        set(id, to: nil)
        return stopped(id)
    }

    private mutating func stopped(_ id: ID) -> Granted {
        growing[id] = nil
        receiving.removeAll { $0 == id }
        var granted = Granted()
        // Growth goes first: it leads to bytes that are given back.
        for id in receiving {
            guard let bytes = growing[id], mayGrow(id, to: bytes) else { continue }
            growing[id] = nil
            set(id, to: bytes)
            granted.grown.append(id)
        }
        granted.entered = admit()
        return granted
    }

    /// In the order in which they came, but that nobody waits for another host's bytes.
    private mutating func admit() -> [ID] {
        guard !growing.contains(where: { !isInLimit($0.key, at: $0.value) }) else { return [] }
        var admitted: [ID] = []
        for waiting in entering {
            // A limit smaller than one share lets one in.
            guard used == 0 || used + waiting.bytes <= limit else { break }
            let held = bytes(ofHost: waiting.host)
            guard held == 0 || held + waiting.bytes <= hostLimit else { continue }
            shares[waiting.id] = Share(host: waiting.host, bytes: 0)
            set(waiting.id, to: waiting.bytes)
            admitted.append(waiting.id)
        }
        if !admitted.isEmpty { entering.removeAll { admitted.contains($0.id) } }
        return admitted
    }

    private func mayGrow(_ id: ID, to bytes: Int) -> Bool {
        isInLimit(id, at: bytes) && isInHalf(id, at: bytes)
    }

    private func isInLimit(_ id: ID, at bytes: Int) -> Bool {
        let others = used - self.bytes(of: id)
        return others + bytes <= limit || others <= limit && receiving.first == id
    }

    private func isInHalf(_ id: ID, at bytes: Int) -> Bool {
        guard let host = shares[id]?.host else { return true }
        let others = self.bytes(ofHost: host) - self.bytes(of: id)
        return others + bytes <= hostLimit
            || others <= hostLimit && receiving.first { shares[$0]?.host == host } == id
    }

    private mutating func set(_ id: ID, to bytes: Int?) {
        guard let share = shares[id] else { return }
        let more = (bytes ?? 0) - share.bytes
        used += more
        peak = max(peak, used)
        let held = self.bytes(ofHost: share.host) + more
        hosts[share.host] = held == 0 ? nil : held
        if let bytes { shares[id]?.bytes = bytes } else { shares[id] = nil }
    }
}
