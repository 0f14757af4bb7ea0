internal import Clocks
package import Ledger

/// Circuit breaker for faults that would recur. After one failure only probes start, one per interval, until one of
/// them succeeds.
///
/// A worker has one for its own parts (its store is full, no renderer starts), and one for each partition's log.
package struct CircuitBreaker: Sendable, Equatable {
    private enum State: Sendable, Equatable {
        case closed
        /// Nothing starts. The first probe may start at `until`.
        case open(until: Instant)
        /// Flights that started as probes. Another may start at `next`.
        case halfOpen(probes: Set<FlightID>, next: Instant)
    }

    private var state = State.closed

    package init() {}

    package var isClosed: Bool { state == .closed }

    /// Handles a flight that ended by this breaker's fault. Returns whether that opens the breaker; the first probe may
    /// then start at `probe`.
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

    /// Handles a flight that succeeded. Returns whether that closes the breaker.
    mutating func close() -> Bool {
        defer { state = .closed }
        return !isClosed
    }

    /// Removes a flight that is over. A probe that did not fail by this fault (its source is gone, its body is not an
    /// image) shows nothing. The next probe starts at once, or a run of bad jobs would keep the breaker open.
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

    /// Makes the flight a probe. The next probe may start at `next`.
    mutating func probe(_ flight: FlightID, next: Instant) { setProbes(Set(probes).union([flight]), next) }

    /// Probes, which may get permits although the breaker is not closed, in order.
    var probes: [FlightID] {
        if case .halfOpen(let probes, _) = state { probes.sorted() } else { [] }
    }

    private mutating func setProbes(_ probes: Set<FlightID>, _ next: Instant) {
        state = probes.isEmpty ? .open(until: next) : .halfOpen(probes: probes, next: next)
    }
}
