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

    /// A flight ended by the machine's fault. True if that halts what went on until now.
    package mutating func fail(_ flight: FlightID, at now: Int64) -> Bool {
        guard halt == nil else {
            halt?.probes.remove(flight)
            return false
        }
        halt = Halt(next: now + rules.probeEvery)
        return true
    }

    /// A flight's work is stored and announced. True if that ends a halt, so that everything goes on.
    package mutating func pass(_ flight: FlightID) -> Bool {
        guard halt != nil, seats[flight] != nil else { return false }
        halt = nil
        return true
    }

    /// A flight is over. A probe that the machine did not fail ended by its own fault (its source is gone, its bytes are
    /// no picture): it tells nothing, so the next one goes at once, or a run of bad jobs would be a halt without end.
    mutating func endProbe(_ flight: FlightID) {
        if halt?.probes.remove(flight) != nil { halt?.next = .min }
    }

    /// What probes ask for, and the next of them when it is time. Those that need no fetch any more go first: their
    /// sources wait in memory.
    mutating func probes(at now: Int64) -> [(kind: PermitKind, flight: FlightID)] {
        guard let halt else { return [] }
        var granted: [(kind: PermitKind, flight: FlightID)] = []
        for flight in halt.probes.sorted() {
            if let kind = seats[flight]?.waits, free[kind, default: 0] > 0 { granted.append(grant(kind, flight)) }
        }
        guard now >= halt.next else { return granted }
        for kind in [PermitKind.render, .fetch] where free[kind, default: 0] > 0 {
            for lane in [Lane.fast, .slow] {
                guard let flight = first(Queue(kind: kind, lane: lane))?.flight else { continue }
                self.halt = Halt(next: now + rules.probeEvery, probes: halt.probes.union([flight]))
                return granted + [grant(kind, flight)]
            }
        }
        return granted
    }
}
