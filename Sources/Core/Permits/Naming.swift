package import Clocks
package import Ledger

/// Flights that have their first permit, and begin once a durable row names them: after an owner died, its successor names
/// what it begins (`Suspects`).
package struct Naming: Sendable, Equatable {
    package struct Grant: Sendable, Equatable {
        package let kind: PermitKind
        package let flight: FlightID

        package init(_ kind: PermitKind, _ flight: FlightID) { (self.kind, self.flight) = (kind, flight) }
    }

    private var waiting: [Grant] = []
    /// Named by the row that is on its way.
    private var underWay: [Grant] = []
    /// Since when the oldest of those that wait, or are under way, does so.
    private var since: Instant?

    /// A log that takes longer is away: others need the permits.
    package static let limit = Duration.seconds(1)

    package init() {}

    package var isWaiting: Bool { !waiting.isEmpty }

    package mutating func add(_ grant: Grant, at now: Instant) {
        waiting.append(grant)
        since = since ?? now
    }

    /// A row is appended that names all that wait, and these: those of a row before it began, or were given up.
    package mutating func begin() -> [FlightID] {
        (underWay, waiting) = (waiting, [])
        return underWay.map(\.flight)
    }

    /// The row is durable: these begin.
    package mutating func named(at now: Instant) -> [Grant] {
        defer { (underWay, since) = ([], waiting.isEmpty ? nil : now) }
        return underWay
    }

    /// The log does not take the row: these end as flights do whose rows it does not take.
    package mutating func giveUp() -> [Grant] {
        defer { self = Naming() }
        return underWay + waiting
    }

    package func isLate(at now: Instant) -> Bool { since.map { now - $0 >= Self.limit } ?? false }
}
