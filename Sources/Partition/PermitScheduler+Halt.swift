internal import ImageModel

/// While this machine cannot do its part (its store is full, no renderer starts), every flight would fail as the last one
/// did, at the price of a fetch and a render: only probes go on, one in `rules.probeEvery`, until one gets through.
extension PermitScheduler {
    struct Halt: Sendable {
        /// When the next probe may begin.
        var next: Int64
        /// Flights that were let through to see whether it works again.
        var probes: Set<FlightID> = []
    }

    /// What was in the way of flights, until one got through.
    package enum Obstacle: Sendable, Equatable {
        case machine
        case log
    }

    /// A flight ended by the machine's fault. True if that halts what went on until now.
    package mutating func fail(_ flight: FlightID, at now: Int64) -> Bool {
        guard halt == nil else {
            halt?.probes.remove(flight)
            return false
        }
        halt = Halt(next: now + rules.probeEvery)
        return true
    }

    /// A flight's work is stored and announced. Returns what that ends, so that everything goes on.
    package mutating func pass(_ flight: FlightID) -> [Obstacle] {
        guard var seat = seats[flight] else { return [] }
        endTail(&seat, flight)
        seats[flight] = seat
        var ended: [Obstacle] = []
        if halt != nil { ended.append(.machine) }
        if endHold(flight.partition) { ended.append(.log) }
        halt = nil
        return ended
    }

    /// A flight is over. A probe that neither the machine nor the log failed ended by its own fault (its source is gone, its
    /// bytes are no picture): it tells nothing, so the next one goes at once, or a run of bad jobs would be a halt without
    /// end.
    mutating func endProbe(_ flight: FlightID) {
        if halt?.probes.remove(flight) != nil { halt?.next = .min }
        if holds[flight.partition]?.probes.remove(flight) != nil { holds[flight.partition]?.next = .min }
    }

    /// What probes ask for, and the next of them when it is time. Those that need no fetch any more go first: their
    /// sources wait in memory. Partitions whose log is away have theirs if there are no others.
    mutating func probes(at now: Int64) -> [(kind: PermitKind, flight: FlightID)] {
        guard let halt else { return [] }
        var granted = grants(for: halt.probes)
        guard now >= halt.next else { return granted }
        for queue in Queue.all where free[queue.kind, default: 0] > 0 {
            guard let flight = first(queue)?.flight else { continue }
            self.halt = Halt(next: now + rules.probeEvery, probes: halt.probes.union([flight]))
            return granted + [grant(queue.kind, flight)]
        }
        granted += holdProbes(at: now)
        return granted
    }

    /// What probes that are under way ask for.
    mutating func grants(for probes: Set<FlightID>) -> [(kind: PermitKind, flight: FlightID)] {
        var granted: [(kind: PermitKind, flight: FlightID)] = []
        for flight in probes.sorted() {
            guard let seat = seats[flight], let kind = seat.waits, free[kind, default: 0] > 0 else { continue }
            if kind == .render || hasRoom(seat.host, seat.rank) { granted.append(grant(kind, flight)) }
        }
        return granted
    }
}
