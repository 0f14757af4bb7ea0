internal import Ledger
internal import Partition
internal import Permits
internal import Quarantine

/// Permits: granted work starts, and flights that their host holds back wait elsewhere.
extension Worker {
    /// Grants the available permits and starts the work: at once, or once it is named (`QuarantinedJobs`).
    func grant() {
        endIsolatedRun()
        passOnHeld()
        for (kind, flight) in scheduler.grants(at: moment) {
            guard let owned = partitions[flight.partition] else {
                scheduler.forget(flight)
                continue
            }
            if !owned.state.awaitsName(Naming.Grant(kind, flight), at: monotonic) {
                feed(granted(kind, flight), to: owned)
            }
        }
        // A granted flight may be a probe. All others of its host then wait elsewhere.
        passOnHeld()
        nameWaiting()
    }

    private func passOnHeld() {
        for (flight, hold) in scheduler.takeHeld(at: moment) { feed(.held(flight, hold)) }
    }

    func granted(_ kind: PermitKind, _ flight: FlightID) -> PartitionEvent {
        .granted(kind, flight, throttledBy: kind == .fetch ? scheduler.entries[flight]?.throttledBy : nil)
    }
}
