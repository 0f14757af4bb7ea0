package import ImageModel

/// Decides which flight of this worker may fetch or render next: pure, one for all partitions.
///
/// Fast flights take any permit, in the order their jobs came. Slow flights take what fast ones leave idle, at most
/// `rules.slow` under way at once, and none starts while a fast one waits; one that has waited too long is let
/// through, one at a time, so slow never starves and its lag never freezes.
package struct PermitScheduler: Sendable {
    /// What the scheduler knows of a flight that waits for, holds, or is between permits.
    struct Seat: Sendable {
        var lane: Lane
        var waits: PermitKind?
        var holds: Set<PermitKind> = []
        /// Has had a permit and is not over.
        var isUnderWay = false
        /// Tells the flight's place in a queue from those that it left behind.
        var ticket = 0
    }

    struct Ticket: Sendable, Comparable {
        /// When the flight's oldest job came, milliseconds.
        let since: Int64
        let number: Int
        let flight: FlightID
        /// Slow flights under way go first: behind one that may not start yet they would hold its place for ever.
        let isFirst: Bool
        static func < (a: Self, b: Self) -> Bool {
            a.isFirst != b.isFirst ? a.isFirst : (a.since, a.number) < (b.since, b.number)
        }
    }

    struct Queue: Hashable, Sendable {
        let kind: PermitKind
        let lane: Lane
    }

    package let rules: PermitRules
    var seats: [FlightID: Seat] = [:]
    /// By age; a ticket whose flight has moved on is dropped when it is met.
    private var queues: [Queue: Heap<Ticket>] = [:]
    var free: [PermitKind: Int]
    private var slowUnderWay = 0
    private var waitingFast = 0
    /// Flights under way that wait for a render, by lane: their sources were fetched, and take memory.
    private var ready: [Lane: Int] = [:]
    /// The slow flight that was let through for its age.
    private var aged: FlightID?
    private var tickets = 0
    private(set) var isDraining = false
    /// Set while this machine cannot do its part.
    var halt: Halt?

    package init(_ rules: PermitRules) {
        self.rules = rules
        free = [.fetch: rules.fetch, .render: rules.render]
    }

    package func running(_ kind: PermitKind) -> Int {
        (kind == .fetch ? rules.fetch : rules.render) - free[kind, default: 0]
    }

    /// Nothing new is begun: flights that have had no permit are forgotten, and later ones are not taken up.
    package mutating func drain() {
        isDraining = true
        for (flight, seat) in seats where !seat.isUnderWay { forget(flight) }
    }

    /// No flight holds a permit, waits for one, or is between two.
    package var isIdle: Bool { seats.isEmpty }

    /// A flight asks for its next permit. `since` is when its oldest job came: it goes before younger ones of its lane.
    package mutating func request(_ kind: PermitKind, _ flight: FlightID, lane: Lane, since: Int64) {
        if isDraining, seats[flight] == nil { return }
        var seat = seats[flight] ?? Seat(lane: lane)
        precondition(seat.waits == nil, "a flight waits for one permit at a time")
        if seat.lane != lane { changeLane(&seat, flight, to: lane) }
        if kind == .render, seat.isUnderWay { ready[lane, default: 0] += 1 }
        seat.waits = kind
        enqueue(&seat, flight, since: since)
        seats[flight] = seat
    }

    /// The flight's work with this permit ended.
    package mutating func release(_ kind: PermitKind, _ flight: FlightID) {
        if seats[flight]?.holds.remove(kind) != nil { free[kind, default: 0] += 1 }
    }

    /// The flight is over, or given up: whatever it held or waited for is free.
    package mutating func forget(_ flight: FlightID) {
        guard let seat = seats.removeValue(forKey: flight) else { return }
        for kind in seat.holds { free[kind, default: 0] += 1 }
        if seat.waits != nil, seat.lane == .fast { waitingFast -= 1 }
        if seat.isUnderWay, seat.lane == .slow { slowUnderWay -= 1 }
        if seat.isUnderWay, seat.waits == .render { ready[seat.lane, default: 0] -= 1 }
        if aged == flight { aged = nil }
        endProbe(flight)
    }

    /// A waiting or running flight changes lane; it is never restarted.
    package mutating func move(_ flight: FlightID, to lane: Lane, since: Int64) {
        guard var seat = seats[flight], seat.lane != lane else { return }
        changeLane(&seat, flight, to: lane)
        if seat.waits != nil { enqueue(&seat, flight, since: since) }
        seats[flight] = seat
    }

    /// Every permit that can be given now, in the order to start.
    package mutating func grants(at now: Int64) -> [(kind: PermitKind, flight: FlightID)] {
        // What is under way when the worker stops may try to finish, or the drain would wait for its deadline.
        if halt != nil, !isDraining { return probes(at: now) }
        var granted: [(kind: PermitKind, flight: FlightID)] = []
        // Before the fast ones: where they never leave a permit idle, it would wait for ever.
        for kind in [PermitKind.render, .fetch] where waitingFast > 0 && hasRoom(kind, for: .slow) {
            if let ticket = first(Queue(kind: kind, lane: .slow)), isAged(ticket, at: now) {
                granted.append(grant(kind, ticket.flight))
            }
        }
        for kind in [PermitKind.render, .fetch] {
            while hasRoom(kind, for: .fast), let ticket = first(Queue(kind: kind, lane: .fast)) {
                granted.append(grant(kind, ticket.flight))
            }
        }
        for kind in [PermitKind.render, .fetch] {
            while hasRoom(kind, for: .slow), let ticket = first(Queue(kind: kind, lane: .slow)),
                mayGo(ticket, at: now)
            {
                granted.append(grant(kind, ticket.flight))
            }
        }
        return granted
    }

    /// What was fetched and waits for its render counts as a fetch: where an origin is faster than the renderers, all that
    /// there is would be fetched at once, more than can be finished when a partition goes. Slow ones that wait so hold back
    /// no fast one.
    private func hasRoom(_ kind: PermitKind, for lane: Lane) -> Bool {
        let free = free[kind, default: 0]
        guard kind == .fetch else { return free > 0 }
        return free > ready[.fast, default: 0] + (lane == .slow ? ready[.slow, default: 0] : 0)
    }

    private func mayGo(_ ticket: Ticket, at now: Int64) -> Bool {
        let isUnderWay = seats[ticket.flight]?.isUnderWay ?? false
        // A permit still free is one that no fast flight waits for: what has begun may take it and give back what it holds.
        if isUnderWay || (waitingFast == 0 && slowUnderWay < rules.slow) { return true }
        return isAged(ticket, at: now)
    }

    private func isAged(_ ticket: Ticket, at now: Int64) -> Bool {
        now - ticket.since >= rules.slowWait && (aged == nil || aged == ticket.flight)
    }

    /// The flight's ticket is dropped when it is met again.
    mutating func grant(_ kind: PermitKind, _ flight: FlightID) -> (kind: PermitKind, flight: FlightID) {
        var seat = seats[flight] ?? Seat(lane: .fast)
        if seat.lane == .fast {
            waitingFast -= 1
        } else {
            if !seat.isUnderWay, waitingFast > 0 || slowUnderWay >= rules.slow { aged = flight }
            if !seat.isUnderWay { slowUnderWay += 1 }
        }
        if seat.isUnderWay, kind == .render { ready[seat.lane, default: 0] -= 1 }
        seat.waits = nil
        seat.isUnderWay = true
        seat.holds.insert(kind)
        free[kind, default: 0] -= 1
        seats[flight] = seat
        return (kind, flight)
    }

    private mutating func enqueue(_ seat: inout Seat, _ flight: FlightID, since: Int64) {
        guard let kind = seat.waits else { return }
        tickets += 1
        seat.ticket = tickets
        if seat.lane == .fast { waitingFast += 1 }
        queues[Queue(kind: kind, lane: seat.lane), default: Heap()]
            .push(
                Ticket(
                    since: since, number: tickets, flight: flight, isFirst: seat.lane == .slow && seat.isUnderWay))
    }

    private mutating func changeLane(_ seat: inout Seat, _ flight: FlightID, to lane: Lane) {
        if seat.waits != nil, seat.lane == .fast { waitingFast -= 1 }
        if seat.isUnderWay { slowUnderWay += lane == .slow ? 1 : -1 }
        if seat.isUnderWay, seat.waits == .render {
            ready[seat.lane, default: 0] -= 1
            ready[lane, default: 0] += 1
        }
        if lane == .fast, aged == flight { aged = nil }
        seat.lane = lane
    }

    /// The oldest ticket that still stands.
    mutating func first(_ queue: Queue) -> Ticket? {
        while let ticket = queues[queue]?.first {
            if let seat = seats[ticket.flight], seat.ticket == ticket.number, seat.waits == queue.kind { return ticket }
            _ = queues[queue]?.pop()
        }
        return nil
    }
}
