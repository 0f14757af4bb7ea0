package import Canonical
package import Clocks
package import Hosts
package import ImageModel
package import Ledger
package import Quarantine
package import Records

/// Decides which flight of this worker may fetch or render next. It is pure, and one serves all partitions.
///
/// Fast flights are those of urgent lanes, slow ones all others. Fast flights take any permit: hosts in turn, and for
/// each host in the order in which their jobs came. Slow flights take the permits that fast ones leave idle. At most
/// `rules.slow` of them render at once, and none starts while a fast one waits. A slow flight that has waited too long
/// goes before the fast ones, to its fetch and to its render, one at a time. So slow flights never starve, and their
/// lag never freezes.
///
/// One host holds at most half of the fetch permits, and no more than its limit (`PermitScheduler+Origins`). A fetch
/// that takes long leaves its permit to others (`PermitScheduler+Late`). A partition whose log does not accept
/// announced rows gets no permits (`PermitScheduler+Breakers`). Flights behind one that must wait for any of these
/// continue.
package struct PermitScheduler: Sendable {
    typealias Ticket = PermitQueue.Ticket
    package typealias Grant = (kind: PermitKind, flight: FlightID)

    /// State of a flight that waits for a permit, holds one, or is between two.
    package struct Entry: Sendable {
        package internal(set) var lane: Lane
        /// Host of the fetch permit that it holds, or last requested.
        package internal(set) var host: OriginHost
        /// Known redirect target of its host. While the target is blocked, the host is not asked in vain.
        var behind: OriginHost?
        package internal(set) var waits: PermitKind?
        package internal(set) var holds: Set<PermitKind> = []
        /// The host's limit that held the flight back when it was last examined.
        package internal(set) var throttledBy: HostHold?
        /// Time of its request for a permit.
        var askedAt = Instant.distantPast
        /// Whether its fetch counts among the late ones and takes no permit.
        var isLate = false
        /// Whether it has had a permit and is not over.
        var isUnderWay = false
        /// State between the end of the render and the acknowledgement of its rows.
        var tail = Tail.none
        /// Number of its ticket. A grant sets it to the newest number of all, so that grants and waiting flights can be
        /// ordered. For example, a flight granted at 7 came after a flight that waits since 7.
        package internal(set) var ticket = 0
        /// Arrival time of its oldest job.
        package internal(set) var since = WallTime.distantPast

        enum Tail { case none, storing, announcing }

        var rank: Rank { lane.isUrgent ? .fast : isUnderWay ? .begun : .slow }
    }

    /// Order of flights, apart from old slow ones that go first.
    enum Rank: Int, CaseIterable { case fast, begun, slow }

    struct Queue: Sendable {
        let kind: PermitKind
        let rank: Rank

        /// Index in `queues`.
        var place: Int { (kind == .render ? 0 : Rank.allCases.count) + rank.rawValue }

        /// All queues: renders first, because they need no fetch, and of each kind the fast ones first.
        static let all = [PermitKind.render, .fetch].flatMap { kind in Rank.allCases.map { Queue(kind: kind, rank: $0) }
        }
    }

    package let rules: PermitRules
    package internal(set) var entries: [FlightID: Entry] = [:]
    /// Queues of tickets. A ticket whose flight has moved on is dropped when it is met.
    var queues = [PermitQueue](repeating: PermitQueue(), count: Queue.all.count)
    var free: ByKind<Int>
    /// Permits that slow flights hold.
    private var slow = ByKind(fetch: 0, render: 0)
    /// Fetches in progress, with their start.
    var fetches: [FlightID: Instant] = [:]
    /// Number of late fetches, and how many of them are for slow flights.
    package private(set) var late = (all: 0, slow: 0)
    /// Fetches that are late, or whose host had not responded well when they started.
    var doubtful: Set<FlightID> = []
    /// Hosts with late fetches, while no more fetches may be late.
    var lateHosts: Set<OriginHost> = []
    /// Hosts that wait until there are fewer late fetches, in order of arrival.
    package internal(set) var yielding: [OriginHost] = []
    /// Hosts that were asked, or are waited for.
    package internal(set) var origins: [OriginHost: OriginState] = [:]
    /// This worker's slots of the hosts' limits, which are the cluster's. nil: all of them.
    var slots: HostSlots?
    /// Flights that wait for hosts which may not be asked, until `takeHeld` sends them elsewhere.
    package internal(set) var closed: [OriginHost: [FlightID]] = [:]
    /// Hosts that wait for their rate alone.
    var paced: Set<OriginHost> = []
    var random: SplitMix64
    /// Time of the last call.
    var clock = Instant(nanoseconds: 0)
    /// Flights in progress that wait for a render, fast and slow apart. Their fetched sources take memory.
    private var ready: [ReadyShare: Int] = [:]
    /// Hosts at which fast flights go before aged ones in this pass.
    private var yieldingOnce: Set<OriginHost> = []
    /// Slow flights that got a permit because of their age.
    var aged: [FlightID: Ticket] = [:]
    private var tickets = 0
    private(set) var isDraining = false
    /// Breaker for this machine's own parts: its store and its renderers.
    var machine = CircuitBreaker()
    /// Breakers of partitions whose log does not accept announced rows.
    var logs: [PartitionID: CircuitBreaker] = [:]
    /// Time when a flight's results were last stored and announced.
    package internal(set) var lastPass = WallTime.distantPast
    /// Number of rendered flights whose rows are not in the log, by partition.
    var tails: [PartitionID: Int] = [:]
    /// Number of flights whose rows are being appended.
    package internal(set) var announcements = 0
    /// Partitions with too many flights in `tails`.
    var congested: Set<PartitionID> = []
    /// Flights that must run with nothing else in progress, and the current one.
    package internal(set) var isolatedRuns = IsolatedRuns()

    package init(_ rules: PermitRules) {
        self.rules = rules
        random = SplitMix64(state: rules.seed)
        free = ByKind(fetch: rules.fetch, render: rules.render)
    }

    subscript(queue: Queue) -> PermitQueue {
        _read { yield queues[queue.place] }
        _modify { yield &queues[queue.place] }
    }

    package func running(_ kind: PermitKind) -> Int {
        (kind == .fetch ? rules.fetch + late.all : rules.render) - free[kind]
    }

    /// Stops the start of new work. Flights that have had no permit, or wait for a fetch, are forgotten, and later ones
    /// are refused. Flights in progress may try to end, even if their partition's log failed until now.
    package mutating func drain() {
        isDraining = true
        isolatedRuns = IsolatedRuns()
        for (flight, entry) in entries where !entry.isUnderWay || entry.waits == .fetch { forget(flight) }
        for partition in Set(logs.keys).union(congested) { lift(.partition(partition)) }
    }

    /// Requests a flight's next permit. `since` is the arrival of its oldest job; it goes before younger flights of its
    /// lane.
    package mutating func request(
        _ kind: PermitKind, _ flight: FlightID, lane: Lane, since: WallTime, host: OriginHost, behind: OriginHost? = nil
    ) {
        if isDraining, kind == .fetch || entries[flight] == nil { return forget(flight) }
        var entry = entries[flight] ?? Entry(lane: lane, host: host)
        precondition(entry.waits == nil, "a flight waits for one permit at a time")
        precondition(entry.host == host || !entry.holds.contains(.fetch), "a flight holds one host's permit at a time")
        endTail(&entry, flight)
        if entry.lane != lane { changeLane(&entry, flight, to: lane) }
        if kind == .render, entry.isUnderWay { countReady(flight, lane, 1) }
        // Between two hosts the flight runs nothing. A quarantined job that is to run alone does not wait until this
        // flight gets its turn.
        if kind == .fetch, entry.host != host, entry.holds.isEmpty, isolatedRuns.flight != flight {
            entry.isUnderWay = false
        }
        (entry.waits, entry.host, entry.behind) = (kind, host, behind)
        enqueue(&entry, flight, since: since)
        entries[flight] = entry
        if kind == .fetch { noteWaiting(flight, host, behind) }
    }

    /// Takes back a permit, because the flight's work with it has ended.
    package mutating func release(_ kind: PermitKind, _ flight: FlightID) {
        guard var entry = entries[flight], entry.holds.remove(kind) != nil else { return }
        let given = entry
        if kind == .render { beginTail(&entry, flight) } else { entry.isLate = false }
        entries[flight] = entry
        giveBack(kind, given, flight)
    }

    /// Frees all permits and tickets of a flight that is over or released.
    package mutating func forget(_ flight: FlightID) {
        drop(flight)
        isolatedRuns.end(flight)
    }

    mutating func drop(_ flight: FlightID) {
        guard var entry = entries.removeValue(forKey: flight) else { return }
        endTail(&entry, flight)
        for kind in entry.holds { giveBack(kind, entry, flight) }
        if entry.isUnderWay, entry.waits == .render { countReady(flight, entry.lane, -1) }
        endProbe(flight)
        guard let kind = entry.waits else { return }
        let entries = entries
        let group = PermitQueue.Group(partition: flight.partition, host: kind == .fetch ? entry.host : nil)
        self[Queue(kind: kind, rank: entry.rank)].leave(group) { Self.stands($0, entries) }
    }

    /// Moves a waiting or running flight to another lane, without a restart.
    package mutating func move(_ flight: FlightID, to lane: Lane, since: WallTime) {
        guard var entry = entries[flight], entry.lane != lane else { return }
        changeLane(&entry, flight, to: lane)
        if entry.waits != nil { enqueue(&entry, flight, since: since) }
        entries[flight] = entry
    }

    /// Every permit that can be granted now, in the order to start.
    package mutating func grants(at now: Moment) -> [Grant] {
        (clock, yieldingOnce) = (now.monotonic, [])
        liftTimed()
        countLate()
        if let granted = aloneGrants(at: now) { return granted }
        if entries.isEmpty { return [] }
        // Flights in progress may try to end when the worker stops. Otherwise the drain would wait for its deadline.
        if !machine.isClosed, !isDraining { return machineProbes(at: now) }
        var granted = logProbes(at: now)
        // Renders first: if sources come faster than they are rendered, each render frees memory for a fetch.
        for kind in [PermitKind.render, .fetch] {
            while hasRoom(kind, isFast: true) {
                if let ticket = firstAged(kind, at: now.wall) {
                    aged[ticket.flight] = ticket
                    granted.append(grant(kind, ticket.flight))
                } else if let ticket = first(Queue(kind: kind, rank: .fast)) {
                    granted.append(grant(kind, ticket.flight))
                } else {
                    break
                }
            }
        }
        // Permits that fast flights leave: for slow ones in progress, so that they return theirs, and for more if no
        // fast one waits.
        let ranks: [Rank] = isFastWaiting() ? [.begun] : [.begun, .slow]
        for kind in [PermitKind.render, .fetch] {
            for rank in ranks {
                while hasRoom(kind, isFast: false), let ticket = first(Queue(kind: kind, rank: rank)) {
                    granted.append(grant(kind, ticket.flight))
                }
            }
        }
        return granted
    }

    /// Whether a permit is free for fast or for slow flights. A fetched source that waits for its render counts as a
    /// fetch. Otherwise, if an origin is faster than the renderers, the worker would fetch its whole backlog at once.
    /// That is more than it could finish when a partition goes. Slow flights that wait for a render hold back no fast
    /// one.
    private func hasRoom(_ kind: PermitKind, isFast: Bool) -> Bool {
        let free = free[kind]
        switch (kind, isFast) {
        case (.render, true): return free > 0
        case (.render, false): return free > 0 && mayRenderSlow
        case (.fetch, true): return free > ready(isFast: true)
        case (.fetch, false):
            let readySlow = ready(isFast: false)
            return free > ready(isFast: true) + readySlow && slow[kind] + readySlow < rules.slowFetch && mayFetchSlow
        }
    }

    private var mayFetchSlow: Bool { slow[.fetch] + late.slow < rules.slowFetches }

    /// Whether the limits of slow flights allow one more such permit. Age and probes do not lift them.
    func mayBegin(_ kind: PermitKind, isSlow: Bool) -> Bool {
        !isSlow || (kind == .fetch ? mayFetchSlow : mayRenderSlow)
    }

    /// Flights that wait for a render, of partitions whose log accepts rows. Those of other partitions are bounded,
    /// since they get no new fetches, and must not keep all partitions from fetching.
    private func ready(isFast: Bool) -> Int {
        ready.reduce(0) { $1.key.isFast == isFast && isOpen($1.key.partition) ? $0 + $1.value : $0 }
    }

    private mutating func countReady(_ flight: FlightID, _ lane: Lane, _ step: Int) {
        let key = ReadyShare(partition: flight.partition, isFast: lane.isUrgent)
        let count = ready[key, default: 0] + step
        ready[key] = count == 0 ? nil : count
    }

    private struct ReadyShare: Hashable, Sendable {
        let partition: PartitionID
        let isFast: Bool
    }

    private var mayRenderSlow: Bool { isDraining || slow[.render] < rules.slow }

    /// Oldest slow flight, if it goes before the fast ones. It must have waited long enough, and no older flight may
    /// hold a permit because of its age. An older one never waits for a younger one, so each gets its turn, whichever
    /// permit it lacks.
    private mutating func firstAged(_ kind: PermitKind, at now: WallTime) -> Ticket? {
        guard mayBegin(kind, isSlow: true) else { return nil }
        let waiting = [Rank.begun, .slow].compactMap { first(Queue(kind: kind, rank: $0), byAge: true) }
        guard let oldest = waiting.min(), now - oldest.since >= rules.slowWait else { return nil }
        // A flight that hangs because its partition's log is unavailable holds back nobody.
        let isFirst = aged.values.allSatisfy { oldest < $0 || !isOpen($0.flight.partition) }
        return isFirst && !yieldsOnce(oldest.host) ? oldest : nil
    }

    private mutating func yieldsOnce(_ host: OriginHost?) -> Bool {
        guard let host else { return false }
        if origins[host]?.yieldsOnce() == true { yieldingOnce.insert(host) }
        return yieldingOnce.contains(host)
    }

    /// Whether a fast flight waits for more than its own host or its own partition's log.
    private mutating func isFastWaiting() -> Bool {
        PermitKind.allCases.contains { first(Queue(kind: $0, rank: .fast)) != nil }
    }

    /// Grants a permit. The flight's ticket is dropped when it is met again.
    mutating func grant(_ kind: PermitKind, _ flight: FlightID) -> Grant {
        guard var entry = entries[flight] else { return (kind, flight) }
        if entry.isUnderWay, kind == .render { countReady(flight, entry.lane, -1) }
        if kind == .fetch {
            self[Queue(kind: kind, rank: entry.rank)].moveOn(entry.host)
            let (isSlow, now) = (!entry.lane.isUrgent, clock)
            if let hold = origins[entry.host]?.hold, hold.at >= entry.askedAt { entry.throttledBy = hold.by }
            change(entry.host) { $0.begin(flight, isSlow: isSlow, at: now) }
            fetches[flight] = now
            if !isProven(entry.host) { doubtful.insert(flight) }
        }
        (entry.waits, entry.ticket) = (nil, tickets)
        entry.isUnderWay = true
        entry.holds.insert(kind)
        entries[flight] = entry
        count(kind, entry, 1)
        return (kind, flight)
    }

    private mutating func giveBack(_ kind: PermitKind, _ entry: Entry, _ flight: FlightID) {
        count(kind, entry, -1)
        aged[flight] = nil
        guard kind == .fetch else { return }
        fetches[flight] = nil
        doubtful.remove(flight)
        let isSlow = !entry.lane.isUrgent
        change(entry.host) { $0.end(flight, isSlow: isSlow) }
        lift(.host(entry.host))
    }

    /// Counts one more permit of the entry, or one less.
    mutating func count(_ kind: PermitKind, _ entry: Entry, _ step: Int) {
        let slowStep = entry.lane.isUrgent ? 0 : step
        if kind == .fetch, entry.isLate {
            late = (late.all + step, late.slow + slowStep)
        } else {
            free[kind] -= step
            slow[kind] += slowStep
        }
    }

    private mutating func enqueue(_ entry: inout Entry, _ flight: FlightID, since: WallTime) {
        guard let kind = entry.waits else { return }
        tickets += 1
        (entry.ticket, entry.since, entry.askedAt) = (tickets, since, clock)
        self[Queue(kind: kind, rank: entry.rank)]
            .push(Ticket(since: since, flight: flight, number: tickets, host: kind == .fetch ? entry.host : nil))
    }

    private mutating func changeLane(_ entry: inout Entry, _ flight: FlightID, to lane: Lane) {
        if entry.isUnderWay, entry.waits == .render {
            countReady(flight, entry.lane, -1)
            countReady(flight, lane, 1)
        }
        for kind in entry.holds { count(kind, entry, -1) }
        entry.lane = lane
        for kind in entry.holds { count(kind, entry, 1) }
        if lane.isUrgent { aged[flight] = nil }
        // The number of slow flights at the host changes with the lane.
        guard entry.holds.contains(.fetch) else { return }
        change(entry.host) { $0.change(isSlow: !lane.isUrgent) }
        lift(.host(entry.host))
    }

    /// The next waiting flight, or the oldest, without those whose host or partition bars them.
    mutating func first(_ queue: Queue, byAge: Bool = false) -> Ticket? {
        while let ticket = byAge ? self[queue].eldest() : self[queue].first() {
            if !stands(ticket) {
                self[queue].removeFirst(of: ticket.group)
            } else if let bar = bar(ticket, queue.rank) {
                self[queue].skip(ticket.group, for: bar)
            } else {
                return ticket
            }
        }
        return nil
    }

    func stands(_ ticket: Ticket) -> Bool { Self.stands(ticket, entries) }

    private static func stands(_ ticket: Ticket, _ entries: [FlightID: Entry]) -> Bool {
        guard let entry = entries[ticket.flight] else { return false }
        return entry.waits != nil && entry.ticket == ticket.number
    }

    private mutating func bar(_ ticket: Ticket, _ rank: Rank) -> PermitQueue.Bar? {
        if !isOpen(ticket.flight.partition) { return .partition(ticket.flight.partition) }
        guard let host = ticket.host, !hasRoom(host, rank) else { return nil }
        if origins[host]?.isPaced(at: clock) == true { paced.insert(host) }
        if let hold = holding(host, isSlow: rank != .fast, at: clock) { origins[host]?.note(hold, at: clock) }
        if yields(host), !yielding.contains(host) { yielding.append(host) }
        return .host(host)
    }

    mutating func lift(_ bar: PermitQueue.Bar) { for queue in Queue.all { self[queue].lift(bar) } }
}
