package import Canonical
package import Clocks
package import ImageModel
package import Ledger

/// Isolated runs: flights that run one after the other with nothing else in progress in their worker. Their jobs may
/// crash it, and no other job must be suspected then.
///
/// If other flights wait for permits, isolated runs get a tenth of the time. A worker that was killed for another
/// reason must make progress afterwards, and a quarantined job whose origin hangs holds everybody up.
package struct IsolatedRuns: Sendable {
    private enum Phase: Sendable {
        case open
        /// Nothing new starts until all flights in progress are over.
        case closing
        case running(FlightID)
        /// The flight is over. The row that names it must be replaced before others start, if the log accepts one in
        /// time.
        case ending(FlightID, until: Instant?)
    }

    /// A flight's request for an isolated run.
    package struct Request: Sendable {
        package let kind: PermitKind
        package let flight: FlightID
        package let lane: Lane
        package let since: WallTime
        package let host: OriginHost

        package init(_ kind: PermitKind, _ flight: FlightID, _ lane: Lane, since: WallTime, _ host: OriginHost) {
            (self.kind, self.flight, self.lane, self.since, self.host) = (kind, flight, lane, since, host)
        }
    }

    private var waiting: [(request: Request, due: Instant)] = []
    private var phase = Phase.open
    /// Time when the others had to stop, and the earliest time when they must stop again.
    private var closedAt = Instant.distantPast
    private var next = Instant.distantPast

    /// Duration for which quarantined jobs follow one another once the others have stopped.
    private static let turn = Duration.seconds(1)
    private static let share = 9
    /// Maximum wait for a log that does not accept the row.
    private static let endLimit = Duration.seconds(2)

    package init() {}

    /// Whether a flight waits for its isolated run.
    package var isWanted: Bool { !waiting.isEmpty }

    /// Whether only flights in progress, and `flight`, get permits.
    package var isClosed: Bool { if case .open = phase { false } else { true } }

    /// The flight that runs alone now.
    package var flight: FlightID? { if case .running(let flight) = phase { flight } else { nil } }

    /// The flight whose name must be removed from its partition's row.
    package var ended: FlightID? { if case .ending(let flight, _) = phase { flight } else { nil } }

    package mutating func add(_ request: Request, due: Instant) {
        if let index = waiting.firstIndex(where: { $0.request.flight == request.flight }) {
            waiting[index].request = request
        } else {
            waiting.append((request, due))
        }
    }

    /// Advances to the next flight to run, once nothing else is in progress.
    ///
    /// - Parameters:
    ///   - isUnderWay: whether a flight is in progress.
    ///   - isIdle: whether no other flight waits either.
    package mutating func step(at now: Instant, isUnderWay: Bool, isIdle: Bool) -> Request? {
        if case .ending(let flight, let until) = phase {
            let until = until ?? now + Self.endLimit
            phase = .ending(flight, until: until)
            if now >= until { cleared(at: now) }
        }
        if case .open = phase, isIdle || now >= next, waiting.contains(where: { $0.due <= now }) {
            (phase, closedAt) = (.closing, now)
        }
        guard case .closing = phase, !isUnderWay else { return nil }
        guard let index = waiting.firstIndex(where: { $0.due <= now }) else {
            open(at: now)
            return nil
        }
        let request = waiting.remove(at: index).request
        phase = .running(request.flight)
        return request
    }

    /// Ends the flight's run, with any result.
    package mutating func end(_ flight: FlightID) {
        if !waiting.isEmpty { waiting.removeAll { $0.request.flight == flight } }
        if case .running(flight) = phase { phase = .ending(flight, until: nil) }
    }

    /// Ends the wait for the row: no row names the flight as in progress any more.
    package mutating func cleared(at now: Instant) {
        guard case .ending = phase else { return }
        if now - closedAt < Self.turn, waiting.contains(where: { $0.due <= now }) {
            phase = .closing
        } else {
            open(at: now)
        }
    }

    private mutating func open(at now: Instant) {
        phase = .open
        next = now + (now - closedAt) * Self.share
    }
}
