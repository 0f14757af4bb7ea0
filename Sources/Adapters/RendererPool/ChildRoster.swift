/// Chooses the renderer process for each render, and the processes that end, so that no process sees two origins.
///
/// A spare has read no image and serves any origin. An idle process has read images of one origin and waits for more of
/// them. If there are too many idle processes, or too little memory, the least recently used end first. If few renders
/// would find a process of their origin, none is kept idle.
struct ChildRoster<Child: Equatable> {
    struct Idle: Equatable {
        let child: Child
        let origin: String
    }
    private let isolation: RenderIsolation
    private let slots: Int
    private(set) var spares: [Child] = []
    /// Idle processes, least recently used first.
    private(set) var idle: [Idle] = []
    /// Number of processes that are rendering.
    private(set) var busy = 0
    /// Origins that would have an idle process if all were kept, least recently used first.
    private var recent: [String] = []
    /// One bit for each of the last 32 renders that count: whether a process of its origin would have been idle.
    private var hits: UInt32 = 0
    private var renders = 0

    init(_ isolation: RenderIsolation, slots: Int) { (self.isolation, self.slots) = (isolation, slots) }

    /// Number of processes to start ahead of need: a spare for each slot. With isolation none, one process for each
    /// slot is enough.
    var missingSpares: Int { max(0, slots - spares.count - (isolation == .none ? idle.count + busy : 0)) }
    /// A process that could take a render of any origin.
    var ready: Child? { spares.last ?? (isolation == .none ? idle.last?.child : nil) }
    var all: [Child] { spares + idle.map(\.child) }

    mutating func add(spare child: Child) { spares.append(child) }

    /// Notes whether a render would have found a process of its origin; called once for each render, before `take`.
    mutating func note(_ origin: String?) {
        guard let key = key(origin) else { return }
        let place = recent.lastIndex(of: key)
        if let place { recent.remove(at: place) }
        // The first render of an origin does not count while there is room for one more origin.
        guard place != nil || recent.count >= Self.idleLimit(slots) else { return }
        hits = hits << 1 | (place == nil ? 0 : 1)
        renders += 1
    }

    /// Takes the idle process of this origin, else a spare; nil: the caller starts a process and calls `join`.
    ///
    /// - Parameter isFresh: whether only a process without an earlier render is acceptable.
    mutating func take(for origin: String?, isFresh: Bool = false) -> Child? {
        let key = key(origin)
        let place = isFresh ? nil : idle.lastIndex { $0.origin == key }
        let child = place.map { idle.remove(at: $0).child } ?? spares.popLast()
        if child != nil { busy += 1 }
        return child
    }

    /// Counts a process that was started for a render.
    mutating func join() { busy += 1 }

    /// Counts a process that will render nothing more.
    mutating func leave() { busy -= 1 }

    /// Takes a process back after its render; returns the processes to end.
    mutating func giveBack(_ child: Child, origin: String?) -> [Child] {
        busy -= 1
        guard let key = key(origin) else { return [child] }
        recent.append(key)
        if recent.count > Self.idleLimit(slots) { recent.removeFirst() }
        idle.append(Idle(child: child, origin: key))
        if !isWorthKeeping { return endFirst(idle.count) }
        let surplus = isolation == .none ? busy + idle.count + spares.count - slots : idle.count - Self.idleLimit(slots)
        return endFirst(surplus)
    }

    /// Ends idle processes until the others hold at most this many bytes. With isolation none, idle processes serve the
    /// next renders and stay.
    mutating func shrink(to bytes: Int, weigh: (Child) -> Int) -> [Child] {
        guard isolation != .none else { return [] }
        var (held, count) = (0, 0)
        // The most recently used ones stay.
        while count < idle.count {
            held += weigh(idle[idle.count - 1 - count].child)
            if held > bytes { break }
            count += 1
        }
        return endFirst(idle.count - count)
    }

    /// Forgets a waiting process; false if it was not waiting.
    mutating func remove(_ child: Child) -> Bool {
        let count = all.count
        spares.removeAll { $0 == child }
        idle.removeAll { $0.child == child }
        return all.count < count
    }

    /// Removes the idle processes, which end after a quiet time: nothing else ends a process that an image took over.
    mutating func removeIdle() -> [Child] { isolation == .none ? [] : endFirst(idle.count) }

    mutating func removeAll() -> [Child] {
        defer { (spares, idle) = ([], []) }
        return all
    }

    /// Number of recent origins that keep a process. Four hosts in turn find their process, in addition to one for each
    /// slot.
    static func idleLimit(_ slots: Int) -> Int { 4 + slots }

    /// Whether idle processes save more than they cost. A render that finds its process saves a fork. An idle process
    /// costs about 9 MiB, and caches: with 100 hosts in turn, all renders took 4 to 12 % longer next to six idle
    /// processes. A new roster keeps idle processes until renders have missed theirs.
    private var isWorthKeeping: Bool { isolation == .none || 4 * hits.nonzeroBitCount >= min(renders, 32) }

    /// Group of origins whose images one process may read; nil: each process reads one image.
    private func key(_ origin: String?) -> String? {
        switch isolation {
        case .none: ""
        case .origin: origin
        case .image: nil
        }
    }

    private mutating func endFirst(_ count: Int) -> [Child] {
        defer { idle.removeFirst(min(max(0, count), idle.count)) }
        return idle.prefix(max(0, count)).map(\.child)
    }
}
