/// The rules of the byte budget: which body holds how much, which ones wait, and which continue once bytes are
/// released.
///
/// Bytes count as they arrive: a fetch enters with a small share, and the share grows with the body. All bodies
/// together hold at most `limit`, and those of one host half of it. Incomplete bodies could then wait for each other
/// for ever. So the body that began first may exceed the limit, and the first of each host may exceed that host's half,
/// while all others are within it. At most the limit and one body are in use. No other body holds up the first one, so
/// it ends within its deadlines, and the next one becomes first.
struct BudgetBook: Sendable {
    typealias ID = Int

    /// Fetches that continue, in this order.
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
    /// Most bytes in use at one time so far.
    private(set) var peak = 0
    private var shares: [ID: Share] = [:]
    private var hosts: [String: Int] = [:]
    /// Fetches whose bodies are arriving, in the order in which they began.
    private var receiving: [ID] = []
    /// Pending growth: the share that each waiting body needs.
    private var growing: [ID: Int] = [:]
    private var entering: [(id: ID, host: String, bytes: Int)] = []

    init(limit: Int) { self.limit = limit }

    /// Limit of one host.
    var hostLimit: Int { limit / 2 }
    var waitingToEnter: Int { entering.count }
    func bytes(of id: ID) -> Int { shares[id]?.bytes ?? 0 }
    func bytes(ofHost host: String) -> Int { hosts[host] ?? 0 }

    /// Returns false if the fetch must wait.
    mutating func enter(_ id: ID, for host: String, with bytes: Int) -> Bool {
        entering.append((id, host, bytes))
        return admit().contains(id)
    }

    /// Marks the start of a body.
    mutating func begin(_ id: ID) {
        if shares[id] != nil, !receiving.contains(id) { receiving.append(id) }
    }

    /// Returns false if the body must wait.
    mutating func grow(_ id: ID, to bytes: Int) -> Bool {
        guard let share = shares[id], bytes > share.bytes else { return true }
        guard mayGrow(id, to: bytes) else {
            growing[id] = bytes
            return false
        }
        set(id, to: bytes)
        return true
    }

    /// The body is complete: releases its unused share and its priority.
    mutating func settle(_ id: ID, at bytes: Int) -> Granted {
        set(id, to: min(bytes, self.bytes(of: id)))
        return stopped(id)
    }

    /// Releases a share, or ends the wait for one.
    mutating func leave(_ id: ID) -> Granted {
        entering.removeAll { $0.id == id }
        set(id, to: nil)
        return stopped(id)
    }

    private mutating func stopped(_ id: ID) -> Granted {
        growing[id] = nil
        receiving.removeAll { $0 == id }
        var granted = Granted()
        // Growth goes first: it leads to bytes that are released.
        for id in receiving {
            guard let bytes = growing[id], mayGrow(id, to: bytes) else { continue }
            growing[id] = nil
            set(id, to: bytes)
            granted.grown.append(id)
        }
        granted.entered = admit()
        return granted
    }

    /// Admits waiting fetches in their order, except that none waits for another host's bytes.
    private mutating func admit() -> [ID] {
        guard !growing.contains(where: { !isInLimit($0.key, at: $0.value) }) else { return [] }
        var admitted: [ID] = []
        for waiting in entering {
            // Even a limit smaller than one share admits one fetch.
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
