internal import Clocks
internal import Failures
internal import Jobs
internal import Ledger
internal import Partition
internal import Permits
internal import Ports
internal import Positions
internal import Records
internal import Telemetry

/// After an owner died, its successor names what it begins: see `Suspects`.
extension Worker {
    /// Whether the flight begins once a durable row names it, and not at once.
    func waitsForName(_ kind: PermitKind, _ flight: FlightID, _ owned: OwnedPartition) -> Bool {
        guard owned.state.needsName(flight) else { return false }
        owned.naming.add(Naming.Grant(kind, flight), at: monotonic)
        return true
    }

    func nameWaiting() {
        for owned in partitions.values where owned.naming.isWaiting { name(owned) }
    }

    /// A flight that ran alone is over: others begin again, once no durable row says that nothing else runs.
    func endSolitude() {
        guard let ended = scheduler.solitude.ended else { return }
        if let owned = partitions[ended.partition], owned.state.suspects.isAlone {
            name(owned)
        } else {
            scheduler.endSolitude(at: moment)
        }
    }

    /// A row that names what is under way and what waits to begin, unless another is on its way.
    func name(_ owned: OwnedPartition) {
        guard owned.ledger.beginMarker() else { return }
        let places = owned.state.names(with: owned.naming.begin())
        // By the newest progress it is known of which logs these are the offsets.
        write(marked(newestProgress(of: owned) ?? owned.ledger.written, owned, naming: places), of: owned)
    }

    /// The row is durable: what it names begins.
    func named(by row: ProgressRow, _ owned: OwnedPartition) {
        owned.state.name(by: row)
        // Some may have been given up meanwhile.
        for grant in owned.naming.named(at: monotonic) where scheduler.holds(grant.kind, grant.flight) {
            feed(granted(grant.kind, grant.flight), to: owned)
        }
    }

    /// The log does not take the row: the flights end as those do whose rows it does not take.
    func giveUpNaming(_ owned: OwnedPartition, _ cause: FailureNote) {
        for grant in owned.naming.giveUp() where scheduler.holds(grant.kind, grant.flight) {
            feed(.unannounced(grant.flight, cause), to: owned)
        }
    }

    func tickNaming(_ owned: OwnedPartition) {
        if owned.naming.isLate(at: monotonic) {
            giveUpNaming(owned, FailureNote(LogFailure.unavailable(reason: "it has not taken a row for a second")))
        }
        if owned.state.suspects.deaths > 0, let since = owned.lifecycle.ownedSince, monotonic - since >= Suspects.trial
        {
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
