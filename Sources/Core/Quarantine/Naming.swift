package import Clocks
package import Ledger

/// Flights that have their first permit and start once a durable row names them. After an owner crashed, its successor
/// names the flights that it starts (`QuarantinedJobs`).
package struct Naming: Sendable, Equatable {
    package struct Grant: Sendable, Equatable {
        package let kind: PermitKind
        package let flight: FlightID

        package init(_ kind: PermitKind, _ flight: FlightID) { (self.kind, self.flight) = (kind, flight) }
    }

    private var waiting: [Grant] = []
    /// Flights that the row now being written names.
    private var underWay: [Grant] = []
    /// Time from which the oldest of the waiting or in-progress flights has waited.
    private var since: Instant?

    /// Wait after which the log counts as unavailable, because others need the permits.
    package static let limit = Duration.seconds(1)

    package init() {}

    package var isWaiting: Bool { !waiting.isEmpty }

    package mutating func add(_ grant: Grant, at now: Instant) {
        waiting.append(grant)
        since = since ?? now
    }

    /// Returns the flights that the next row names, besides all that have started. Flights of the row before have
    /// started, or were released.
    package mutating func begin() -> [FlightID] {
        (underWay, waiting) = (waiting, [])
        return underWay.map(\.flight)
    }

    /// Returns the flights to start, because the row is durable.
    package mutating func named(at now: Instant) -> [Grant] {
        defer { (underWay, since) = ([], waiting.isEmpty ? nil : now) }
        return underWay
    }

    /// Returns all flights, because the log does not accept the row. They end like flights whose rows it does not
    /// accept.
    package mutating func abandon() -> [Grant] {
        defer { self = Naming() }
        return underWay + waiting
    }

    package func isLate(at now: Instant) -> Bool { since.map { now - $0 >= Self.limit } ?? false }
}
