internal import Clocks
package import Ledger

/// Stops what would fail as the last one did: after one failure only probes go on, one in an interval, until one of them
/// gets through.
///
/// A worker has one for its own parts (its store is full, no renderer starts), and one for each partition's log.
package struct CircuitBreaker: Sendable, Equatable {
    private enum State: Sendable, Equatable {
        case closed
        /// Nothing goes on; a probe may begin then.
        case open(until: Instant)
        /// Flights that were let through to see whether it works again; another one may begin at `next`.
        case halfOpen(probes: Set<FlightID>, next: Instant)
    }

    private var state = State.closed

    package init() {}

    package var isClosed: Bool { state == .closed }

    /// A flight ended by the fault that this breaker is for. True if that opens it; the first probe may begin at `probe`.
    mutating func open(for flight: FlightID, until probe: Instant) -> Bool {
        switch state {
        case .closed:
            state = .open(until: probe)
            return true
        case .open: return false
        case .halfOpen(let probes, let next):
            setProbes(probes.subtracting([flight]), next)
            return false
        }
    }

    /// A flight got through. True if that closes it.
    mutating func close() -> Bool {
        defer { state = .closed }
        return !isClosed
    }

    /// The flight is over. A probe that did not fail by this fault ended by its own (its source is gone, its bytes are no
    /// picture): it tells nothing, so the next one goes at once, or a run of bad jobs would keep the breaker open.
    package mutating func forget(_ flight: FlightID) {
        guard case .halfOpen(let probes, _) = state, probes.contains(flight) else { return }
        setProbes(probes.subtracting([flight]), .distantPast)
    }

    func mayProbe(at now: Instant) -> Bool {
        switch state {
        case .closed: false
        case .open(let next), .halfOpen(_, let next): now >= next
        }
    }

    /// The flight goes on as a probe; the next one may at `next`.
    mutating func probe(_ flight: FlightID, next: Instant) { setProbes(Set(probes).union([flight]), next) }

    /// Flights that may have what they ask for though the breaker is not closed, in order.
    var probes: [FlightID] {
        if case .halfOpen(let probes, _) = state { probes.sorted() } else { [] }
    }

    private mutating func setProbes(_ probes: Set<FlightID>, _ next: Instant) {
        state = probes.isEmpty ? .open(until: next) : .halfOpen(probes: probes, next: next)
    }
}
