internal import Ledger
internal import Partition
internal import Permits

/// Permits: what is granted begins, and what its host holds back waits elsewhere.
extension Worker {
    /// Grants what can be granted, and begins it: at once, or once it is named (`Suspects`).
    func grant() {
        endSolitude()
        passOnHeld()
        for (kind, flight) in scheduler.grants(at: moment) {
            guard let owned = partitions[flight.partition] else {
                scheduler.forget(flight)
                continue
            }
            if !waitsForName(kind, flight, owned) { feed(granted(kind, flight), to: owned) }
        }
        // What was granted may be a probe, behind which all others of its host wait elsewhere.
        passOnHeld()
        nameWaiting()
    }

    private func passOnHeld() {
        for (flight, hold) in scheduler.takeHeld(at: moment) { feed(.held(flight, hold)) }
    }

    func granted(_ kind: PermitKind, _ flight: FlightID) -> PartitionEvent {
        .granted(kind, flight, heldBy: kind == .fetch ? scheduler.seats[flight]?.heldBy : nil)
    }
}
