internal import Failures
internal import Partition
internal import Ports
internal import Records
internal import Telemetry

/// Flights that have their first permit, and begin once a durable row names them.
struct Naming {
    typealias Grant = (kind: PermitKind, flight: FlightID)

    var waiting: [Grant] = []
    /// Named by the row that is on its way.
    var underWay: [Grant] = []
    /// Since when the oldest of them has waited, monotonic milliseconds.
    var since: Int64?

    /// A log that takes longer is away: others need the permits.
    static let limit: Int64 = 1_000
}

/// After an owner died, its successor names what it begins: see `Suspects`.
extension Worker {
    /// Grants what can be granted, and begins it: at once, or when it is named.
    func grant() {
        if let ended = scheduler.solitude.ended {
            if let owned = partitions[ended.partition], owned.state.suspects.isAlone {
                name(owned)
            } else {
                scheduler.endSolitude(at: moment)
            }
        }
        passOnHeld()
        for (kind, flight) in scheduler.grants(at: moment) {
            guard let owned = partitions[flight.partition] else {
                scheduler.forget(flight)
                continue
            }
            if owned.state.needsName(flight) {
                owned.naming.waiting.append((kind, flight))
                owned.naming.since = owned.naming.since ?? monotonic
            } else {
                feed(granted(kind, flight), to: owned)
            }
        }
        // What was granted may be a probe, behind which all others of its host wait elsewhere.
        passOnHeld()
        for owned in partitions.values where !owned.naming.waiting.isEmpty { name(owned) }
    }

    private func passOnHeld() {
        for (flight, hold) in scheduler.takeHeld(at: moment) { feed(.held(flight, hold)) }
    }

    private func granted(_ kind: PermitKind, _ flight: FlightID) -> PartitionEvent {
        .granted(kind, flight, heldBy: kind == .fetch ? scheduler.seats[flight]?.heldBy : nil)
    }

    /// A row that names what is under way and what waits to begin, unless another is on its way.
    func name(_ owned: OwnedPartition) {
        guard owned.ledger.beginMarker() else { return }
        owned.naming.underWay = owned.naming.waiting
        owned.naming.waiting = []
        let places = owned.state.names(with: owned.naming.underWay.map(\.flight))
        // By the newest progress it is known of which logs these are the offsets.
        write(marked(newestProgress(of: owned) ?? owned.ledger.written, owned, naming: places), of: owned)
    }

    /// The row is durable: what it names begins.
    func named(by row: ProgressRow, _ owned: OwnedPartition) {
        owned.state.name(by: row)
        let grants = owned.naming.underWay
        owned.naming.underWay = []
        owned.naming.since = owned.naming.waiting.isEmpty ? nil : monotonic
        // Some may have been given up meanwhile.
        for (kind, flight) in grants where scheduler.holds(kind, flight) { feed(granted(kind, flight), to: owned) }
    }

    /// The log does not take the row: the flights end as those do whose rows it does not take.
    func giveUpNaming(_ owned: OwnedPartition, _ cause: FailureNote) {
        let grants = owned.naming.underWay + owned.naming.waiting
        owned.naming = Naming()
        for (kind, flight) in grants where scheduler.holds(kind, flight) {
            feed(.unannounced(flight, cause), to: owned)
        }
    }

    func tickNaming(_ owned: OwnedPartition) {
        if let since = owned.naming.since, monotonic - since >= Naming.limit {
            giveUpNaming(owned, FailureNote(LogFailure.unavailable(reason: "it has not taken a row for a second")))
        }
        if owned.state.suspects.deaths > 0, owned.isRestored, monotonic - owned.restoredAt >= Suspects.trial {
            owned.state.suspects.outlive()
        }
    }

    func tellSuspects(of owned: OwnedPartition) {
        let suspects = owned.state.suspects
        guard suspects.aloneCount > 0 else { return }
        logger.warning(
            "Workers died while these jobs ran: each is run again with nothing beside it.",
            [
                "partition": .string("\(owned.id)"), "jobs": .int(Int64(suspects.aloneCount)),
                "deaths": .int(Int64(suspects.deaths)),
            ])
    }
}
