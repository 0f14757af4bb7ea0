/// Chooses the renderer process for each render, and the processes that end, so that no process sees two origins.
///
/// A spare has seen no image and takes any origin. An idle process has seen one origin and waits for it. Too many of them, or too little
/// memory, end the least recently used first. None waits while few renders would find their own.
struct ChildRoster<Child: Equatable> {
    struct Idle: Equatable {
        let child: Child
        let origin: String
    }
    private let isolation: RenderIsolation
    private let seats: Int
    private(set) var spares: [Child] = []
    /// Least recently used first.
    private(set) var idle: [Idle] = []
    /// Processes that have a render.
    private(set) var busy = 0
    /// Origins whose processes would wait if all did, least recently used first.
    private var recent: [String] = []
    /// For each of the last 32 renders that tell, one bit: whether a process for it would have waited.
    private var hits: UInt32 = 0
    private var renders = 0

    init(_ isolation: RenderIsolation, seats: Int) { (self.isolation, self.seats) = (isolation, seats) }

    /// Processes to start ahead of need: a spare for each seat. With isolation none, a process for each seat is enough.
    var missingSpares: Int { max(0, seats - spares.count - (isolation == .none ? idle.count + busy : 0)) }
    /// A process that could take a render of any origin.
    var ready: Child? { spares.last ?? (isolation == .none ? idle.last?.child : nil) }
    var all: [Child] { spares + idle.map(\.child) }

    mutating func add(spare child: Child) { spares.append(child) }

    /// To be called once for each render, before `take`: looks whether a process would have waited for it.
    mutating func note(_ origin: String?) {
        guard let key = key(origin) else { return }
        let place = recent.lastIndex(of: key)
        if let place { recent.remove(at: place) }
        // The first of an origin tells nothing while there is room for one more.
        guard place != nil || recent.count >= Self.idleLimit(seats) else { return }
        hits = hits << 1 | (place == nil ? 0 : 1)
        renders += 1
    }

    /// The idle process of this origin, else a spare; nil: the caller starts a process and calls `join`.
    ///
    /// - Parameter isFresh: whether only a process without an earlier render will do.
    mutating func take(for origin: String?, isFresh: Bool = false) -> Child? {
        let key = key(origin)
        let place = isFresh ? nil : idle.lastIndex { $0.origin == key }
        let child = place.map { idle.remove(at: $0).child } ?? spares.popLast()
        if child != nil { busy += 1 }
        return child
    }

    /// Counts a process that was started for a render.
    mutating func join() { busy += 1 }

    /// Counts a process that will do no further render.
    mutating func leave() { busy -= 1 }

    /// Takes a process back after its render; returns those that end.
    mutating func giveBack(_ child: Child, origin: String?) -> [Child] {
        busy -= 1
        guard let key = key(origin) else { return [child] }
        recent.append(key)
        if recent.count > Self.idleLimit(seats) { recent.removeFirst() }
        idle.append(Idle(child: child, origin: key))
        if !isWorthKeeping { return endFirst(idle.count) }
        let surplus = isolation == .none ? busy + idle.count + spares.count - seats : idle.count - Self.idleLimit(seats)
        return endFirst(surplus)
    }

    /// Ends idle processes until they hold no more than so many bytes together. With isolation none they are the next renders' own.
    mutating func shrink(to bytes: Int, weigh: (Child) -> Int) -> [Child] {
        guard isolation != .none else { return [] }
        var (held, count) = (0, 0)
        // The most recently used stay.
        while count < idle.count {
            held += weigh(idle[idle.count - 1 - count].child)
            if held > bytes { break }
            count += 1
        }
        return endFirst(idle.count - count)
    }

    /// Forgets a process that waits; false if none such waits.
    mutating func remove(_ child: Child) -> Bool {
        let count = all.count
        spares.removeAll { $0 == child }
        idle.removeAll { $0.child == child }
        return all.count < count
    }

    /// The idle processes, which end after a quiet time: nothing else looks after one that an image took over.
    mutating func removeIdle() -> [Child] { isolation == .none ? [] : endFirst(idle.count) }

    mutating func removeAll() -> [Child] {
        defer { (spares, idle) = ([], []) }
        return all
    }

    /// Recent origins that keep a process. Four hosts in turn find theirs, beside one for each seat.
    static func idleLimit(_ seats: Int) -> Int { 4 + seats }

    /// A render that finds its process saves a fork. A process that waits costs about 9 MiB, and caches: with 100 hosts in turn, all
    /// renders took 4 to 12 % longer beside six that waited. A new roster keeps them until renders have missed theirs.
    private var isWorthKeeping: Bool { isolation == .none || 4 * hits.nonzeroBitCount >= min(renders, 32) }

    /// What images a process may see after one of this origin; nil: none.
    private func key(_ origin: String?) -> String? {
        switch isolation {
        case .none: ""
        case .origin: origin
        case .picture: nil
        }
    }

    private mutating func endFirst(_ count: Int) -> [Child] {
        defer { idle.removeFirst(min(max(0, count), idle.count)) }
        return idle.prefix(max(0, count)).map(\.child)
    }
}
