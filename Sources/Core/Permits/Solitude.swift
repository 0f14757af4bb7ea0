package import Canonical
package import Clocks
package import ImageModel
package import Ledger

/// Flights that run with nothing else under way in their worker, one after the other: what their jobs are suspected of
/// may kill it, and nothing else is to be suspected then.
///
/// Where others wait for permits, that has a tenth of the time: a worker that is killed for another reason is to work
/// afterwards, and a suspect whose origin hangs holds everybody up.
package struct Solitude: Sendable {
    private enum Phase: Sendable {
        case open
        /// Nothing new is begun until all that is under way is over.
        case closing
        case running(FlightID)
        /// The flight is over; the row that names it is to be replaced before others begin, if the log takes one in time.
        case ending(FlightID, until: Instant?)
    }

    /// What a flight asks for.
    package struct Request: Sendable {
        package let kind: PermitKind
        package let flight: FlightID
        let lane: Lane
        let since: WallTime
        let host: OriginHost

        package init(_ kind: PermitKind, _ flight: FlightID, _ lane: Lane, since: WallTime, _ host: OriginHost) {
            (self.kind, self.flight, self.lane, self.since, self.host) = (kind, flight, lane, since, host)
        }
    }

    private var waiting: [(request: Request, due: Instant)] = []
    private var phase = Phase.open
    /// When others had to stop, and when they may have to again.
    private var closedAt = Instant.distantPast
    private var next = Instant.distantPast

    /// Once others have stopped, suspects follow one another for so long.
    private static let turn = Duration.seconds(1)
    private static let share = 9
    /// A log that does not take the row holds nobody for longer.
    private static let endLimit = Duration.seconds(2)

    package init() {}

    /// Whether a flight waits for its turn.
    var isWanted: Bool { !waiting.isEmpty }

    /// Whether only what is under way, and `flight`, get permits.
    package var isClosed: Bool { if case .open = phase { false } else { true } }

    /// Whose turn it is.
    package var flight: FlightID? { if case .running(let flight) = phase { flight } else { nil } }

    /// Whose name is to be taken out of its partition's row.
    package var ended: FlightID? { if case .ending(let flight, _) = phase { flight } else { nil } }

    package mutating func add(_ request: Request, due: Instant) {
        if let index = waiting.firstIndex(where: { $0.request.flight == request.flight }) {
            waiting[index].request = request
        } else {
            waiting.append((request, due))
        }
    }

    /// The next flight to run, once nothing else is under way.
    ///
    /// - Parameters:
    ///   - isUnderWay: whether anything is.
    ///   - isIdle: nobody else waits either.
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

    /// The flight is over, whatever became of it.
    package mutating func end(_ flight: FlightID) {
        if !waiting.isEmpty { waiting.removeAll { $0.request.flight == flight } }
        if case .running(flight) = phase { phase = .ending(flight, until: nil) }
    }

    /// No row has the flight as under way any more.
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
