package import Canonical
package import Clocks
package import Hosts
package import ImageModel
package import Ledger
package import Records

/// Decides which flight of this worker may fetch or render next: pure, one for all partitions.
///
/// Fast flights are those of urgent lanes, slow ones all others. Fast flights take any permit: hosts in turn, and of one host
/// in the order their jobs came.
/// Slow flights take what fast ones leave idle: at most `rules.slow` render at once, and none begins while a fast one waits.
/// One that has waited too long goes before the fast ones, to its fetch and to its render, one at a time, so slow never
/// starves and its lag never freezes.
///
/// One host holds at most half of the fetch permits, and no more than it bears (`PermitScheduler+Origins`). A fetch that takes
/// long leaves its permit to others (`PermitScheduler+Late`). A partition whose
/// log does not take what is announced gets none (`PermitScheduler+Breakers`). Flights behind one that must wait for either
/// go on.
package struct PermitScheduler: Sendable {
    typealias Ticket = PermitQueue.Ticket
    package typealias Grant = (kind: PermitKind, flight: FlightID)

    /// What the scheduler knows of a flight that waits for, holds, or is between permits.
    package struct Seat: Sendable {
        package internal(set) var lane: Lane
        /// Of the fetch permit that it holds, or asked for last.
        package internal(set) var host: OriginHost
        /// Where that is known to lead: while this one is left alone, that one is not asked in vain.
        var behind: OriginHost?
        package internal(set) var waits: PermitKind?
        package internal(set) var holds: Set<PermitKind> = []
        /// What of its host held it back when it was last looked at.
        package internal(set) var heldBy: HostHold?
        /// When it asked for its permit.
        var askedAt = Instant.distantPast
        /// Its fetch counts among the late ones, and no permit is taken for it.
        var isLate = false
        /// Has had a permit and is not over.
        var isUnderWay = false
        /// What follows a render, until its rows are in the log.
        var tail = Tail.none
        /// The ticket that it waits by; the newest one of all when it was granted what it waited for: who was granted at 7
        /// came after who waits since 7.
        package internal(set) var ticket = 0
        /// When its oldest job came.
        package internal(set) var since = WallTime.distantPast

        enum Tail { case none, storing, announcing }

        var rank: Rank { lane.isUrgent ? .fast : isUnderWay ? .begun : .slow }
    }

    /// Who goes first, but for age.
    enum Rank: Int, CaseIterable { case fast, begun, slow }

    struct Queue: Sendable {
        let kind: PermitKind
        let rank: Rank

        /// Among all.
        var place: Int { (kind == .render ? 0 : Rank.allCases.count) + rank.rawValue }

        /// Those that need no fetch first, and of them the fast ones.
        static let all = [PermitKind.render, .fetch].flatMap { kind in Rank.allCases.map { Queue(kind: kind, rank: $0) }
        }
    }

    package let rules: PermitRules
    package internal(set) var seats: [FlightID: Seat] = [:]
    /// A ticket whose flight has moved on is dropped when it is met.
    var queues = [PermitQueue](repeating: PermitQueue(), count: Queue.all.count)
    var free: ByKind<Int>
    /// Permits that slow flights hold.
    private var slow = ByKind(fetch: 0, render: 0)
    /// Fetches under way, by when they began.
    var fetches: [FlightID: Instant] = [:]
    /// Those that are late, and those of slow flights among them.
    package private(set) var late = (all: 0, slow: 0)
    /// Fetches that are late, or of hosts that had not answered well when they began.
    var doubtful: Set<FlightID> = []
    /// Hosts with late fetches, while no more may be late.
    var lateHosts: Set<OriginHost> = []
    /// Hosts that wait until there are fewer late fetches, in the order they came.
    package internal(set) var yielding: [OriginHost] = []
    /// Hosts that were asked, or are waited for.
    package internal(set) var origins: [OriginHost: OriginState] = [:]
    /// Of hosts' ceilings, which are the cluster's, what this worker has; nil: all of it.
    var slots: HostSlots?
    /// Flights that wait for hosts which may not be asked, until they are told to wait elsewhere.
    package internal(set) var closed: [OriginHost: [FlightID]] = [:]
    /// Hosts that wait for their rate alone.
    var paced: Set<OriginHost> = []
    var random: SplitMix64
    /// When it was last asked for something.
    var clock = Instant(nanoseconds: 0)
    /// Flights under way that wait for a render, fast and slow apart: their sources were fetched, and take memory.
    private var ready: [ReadyShare: Int] = [:]
    /// Hosts at which fast flights go before aged ones in this pass.
    private var yieldingOnce: Set<OriginHost> = []
    /// Slow flights that hold a permit for their age.
    var aged: [FlightID: Ticket] = [:]
    private var tickets = 0
    private(set) var isDraining = false
    /// Of this machine's own parts: its store, its renderers.
    var machine = CircuitBreaker()
    /// Of partitions whose log does not take what is announced.
    var logs: [PartitionID: CircuitBreaker] = [:]
    /// When a flight's work was last stored and announced.
    package internal(set) var lastPass = WallTime.distantPast
    /// Flights that are rendered and whose rows are not in the log, by partition.
    var tails: [PartitionID: Int] = [:]
    /// Those whose rows are on their way there.
    package internal(set) var announcements = 0
    /// Partitions with too many of those.
    var congested: Set<PartitionID> = []
    /// Flights that run with nothing else under way, and whose turn it is.
    package internal(set) var solitude = Solitude()

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

    /// Nothing new is begun: flights that have had no permit, or wait for a fetch, are forgotten, and later ones are not taken
    /// up. What is under way may try to end, whatever its partition's log did until now.
    package mutating func drain() {
        isDraining = true
        solitude = Solitude()
        for (flight, seat) in seats where !seat.isUnderWay || seat.waits == .fetch { forget(flight) }
        for partition in Set(logs.keys).union(congested) { lift(.partition(partition)) }
    }

    /// No flight holds a permit, waits for one, or is between two.
    package var isIdle: Bool { seats.isEmpty }

    /// A flight asks for its next permit. `since` is when its oldest job came: it goes before younger ones of its lane.
    package mutating func request(
        _ kind: PermitKind, _ flight: FlightID, lane: Lane, since: WallTime, host: OriginHost, behind: OriginHost? = nil
    ) {
        if isDraining, kind == .fetch || seats[flight] == nil { return forget(flight) }
        var seat = seats[flight] ?? Seat(lane: lane, host: host)
        precondition(seat.waits == nil, "a flight waits for one permit at a time")
        precondition(seat.host == host || !seat.holds.contains(.fetch), "a flight holds one host's permit at a time")
        endTail(&seat, flight)
        if seat.lane != lane { changeLane(&seat, flight, to: lane) }
        if kind == .render, seat.isUnderWay { countReady(flight, lane, 1) }
        // Between two hosts it runs nothing: a suspect that is to run alone need not wait until it has its turn.
        if kind == .fetch, seat.host != host, seat.holds.isEmpty, solitude.flight != flight { seat.isUnderWay = false }
        (seat.waits, seat.host, seat.behind) = (kind, host, behind)
        enqueue(&seat, flight, since: since)
        seats[flight] = seat
        if kind == .fetch { noteWaiting(flight, host, behind) }
    }

    /// The flight's work with this permit ended.
    package mutating func release(_ kind: PermitKind, _ flight: FlightID) {
        guard var seat = seats[flight], seat.holds.remove(kind) != nil else { return }
        let given = seat
        if kind == .render { beginTail(&seat, flight) } else { seat.isLate = false }
        seats[flight] = seat
        giveBack(kind, given, flight)
    }

    /// The flight is over, or given up: whatever it held or waited for is free.
    package mutating func forget(_ flight: FlightID) {
        drop(flight)
        solitude.end(flight)
    }

    mutating func drop(_ flight: FlightID) {
        guard var seat = seats.removeValue(forKey: flight) else { return }
        endTail(&seat, flight)
        for kind in seat.holds { giveBack(kind, seat, flight) }
        if seat.isUnderWay, seat.waits == .render { countReady(flight, seat.lane, -1) }
        endProbe(flight)
        guard let kind = seat.waits else { return }
        let seats = seats
        let group = PermitQueue.Group(partition: flight.partition, host: kind == .fetch ? seat.host : nil)
        self[Queue(kind: kind, rank: seat.rank)].leave(group) { Self.stands($0, seats) }
    }

    /// A waiting or running flight changes lane; it is never restarted.
    package mutating func move(_ flight: FlightID, to lane: Lane, since: WallTime) {
        guard var seat = seats[flight], seat.lane != lane else { return }
        changeLane(&seat, flight, to: lane)
        if seat.waits != nil { enqueue(&seat, flight, since: since) }
        seats[flight] = seat
    }

    /// Every permit that can be given now, in the order to start.
    package mutating func grants(at now: Moment) -> [Grant] {
        (clock, yieldingOnce) = (now.monotonic, [])
        liftTimed()
        countLate()
        if let granted = aloneGrants(at: now) { return granted }
        if seats.isEmpty { return [] }
        // What is under way when the worker stops may try to finish, or the drain would wait for its deadline.
        if !machine.isClosed, !isDraining { return machineProbes(at: now) }
        var granted = logProbes(at: now)
        // Renders first: where sources come faster than they are rendered, each makes room for a fetch.
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
        // What fast ones left: for what has begun, so that it gives back what it holds, and for more if no fast one waits.
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

    /// What was fetched and waits for its render counts as a fetch: where an origin is faster than the renderers, all that
    /// there is would be fetched at once, more than can be finished when a partition goes. Slow ones that wait so hold back
    /// no fast one.
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

    /// Of partitions whose log takes rows: what waits in the others is bounded, since they get no new fetches, and must
    /// not keep all from fetching.
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

    /// The oldest slow flight, if it goes before the fast ones: it has waited long enough, and no older one holds a permit
    /// for its age. An older one never waits for a younger one, so each has its turn, whichever permit it lacks.
    private mutating func firstAged(_ kind: PermitKind, at now: WallTime) -> Ticket? {
        guard mayBegin(kind, isSlow: true) else { return nil }
        let waiting = [Rank.begun, .slow].compactMap { first(Queue(kind: kind, rank: $0), byAge: true) }
        guard let oldest = waiting.min(), now - oldest.since >= rules.slowWait else { return nil }
        // One that hangs where its partition's log is away holds back nobody.
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

    /// The flight's ticket is dropped when it is met again.
    mutating func grant(_ kind: PermitKind, _ flight: FlightID) -> Grant {
        guard var seat = seats[flight] else { return (kind, flight) }
        if seat.isUnderWay, kind == .render { countReady(flight, seat.lane, -1) }
        if kind == .fetch {
            self[Queue(kind: kind, rank: seat.rank)].moveOn(seat.host)
            let (isSlow, now) = (!seat.lane.isUrgent, clock)
            if let hold = origins[seat.host]?.hold, hold.at >= seat.askedAt { seat.heldBy = hold.by }
            change(seat.host) { $0.begin(flight, isSlow: isSlow, at: now) }
            fetches[flight] = now
            if !isProven(seat.host) { doubtful.insert(flight) }
        }
        (seat.waits, seat.ticket) = (nil, tickets)
        seat.isUnderWay = true
        seat.holds.insert(kind)
        seats[flight] = seat
        count(kind, seat, 1)
        return (kind, flight)
    }

    private mutating func giveBack(_ kind: PermitKind, _ seat: Seat, _ flight: FlightID) {
        count(kind, seat, -1)
        aged[flight] = nil
        guard kind == .fetch else { return }
        fetches[flight] = nil
        doubtful.remove(flight)
        let isSlow = !seat.lane.isUrgent
        change(seat.host) { $0.end(flight, isSlow: isSlow) }
        lift(.host(seat.host))
    }

    /// One more permit that the seat holds, or one less.
    mutating func count(_ kind: PermitKind, _ seat: Seat, _ step: Int) {
        let slowStep = seat.lane.isUrgent ? 0 : step
        if kind == .fetch, seat.isLate {
            late = (late.all + step, late.slow + slowStep)
        } else {
            free[kind] -= step
            slow[kind] += slowStep
        }
    }

    private mutating func enqueue(_ seat: inout Seat, _ flight: FlightID, since: WallTime) {
        guard let kind = seat.waits else { return }
        tickets += 1
        (seat.ticket, seat.since, seat.askedAt) = (tickets, since, clock)
        self[Queue(kind: kind, rank: seat.rank)]
            .push(Ticket(since: since, flight: flight, number: tickets, host: kind == .fetch ? seat.host : nil))
    }

    private mutating func changeLane(_ seat: inout Seat, _ flight: FlightID, to lane: Lane) {
        if seat.isUnderWay, seat.waits == .render {
            countReady(flight, seat.lane, -1)
            countReady(flight, lane, 1)
        }
        for kind in seat.holds { count(kind, seat, -1) }
        seat.lane = lane
        for kind in seat.holds { count(kind, seat, 1) }
        if lane.isUrgent { aged[flight] = nil }
        // Of the host's share, slow flights may hold more or less now.
        guard seat.holds.contains(.fetch) else { return }
        change(seat.host) { $0.change(isSlow: !lane.isUrgent) }
        lift(.host(seat.host))
    }

    /// The next flight that waits, or the oldest, but for those whose host or partition bars them.
    mutating func first(_ queue: Queue, byAge: Bool = false) -> Ticket? {
        while let ticket = byAge ? self[queue].eldest() : self[queue].first() {
            if !stands(ticket) {
                self[queue].removeFirst(of: ticket.group)
            } else if let bar = bar(ticket, queue.rank) {
                self[queue].setAside(ticket.group, for: bar)
            } else {
                return ticket
            }
        }
        return nil
    }

    func stands(_ ticket: Ticket) -> Bool { Self.stands(ticket, seats) }

    private static func stands(_ ticket: Ticket, _ seats: [FlightID: Seat]) -> Bool {
        guard let seat = seats[ticket.flight] else { return false }
        return seat.waits != nil && seat.ticket == ticket.number
    }

    private mutating func bar(_ ticket: Ticket, _ rank: Rank) -> PermitQueue.Bar? {
        if !isOpen(ticket.flight.partition) { return .partition(ticket.flight.partition) }
        guard let host = ticket.host, !hasRoom(host, rank) else { return nil }
        if origins[host]?.isPaced(at: clock) == true { paced.insert(host) }
        if let hold = holding(host, isSlow: rank != .fast, at: clock) { origins[host]?.note(hold, at: clock) }
        if yields(host), !yielding.contains(host) { yielding.append(host) }
        return .host(host)
    }

    mutating func lift(_ bar: PermitQueue.Bar) {
        for queue in Queue.all { self[queue].lift(bar) }
    }
}
