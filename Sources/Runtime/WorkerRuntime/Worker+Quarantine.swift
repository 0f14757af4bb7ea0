internal import Clocks
internal import Failures
internal import Jobs
internal import Ledger
internal import Partition
internal import Permits
internal import Ports
internal import Positions
internal import Quarantine
internal import Records
internal import Telemetry

/// After an owner crashed, its successor names the jobs that it starts. See `QuarantinedJobs`.
extension Worker {
    func nameWaiting() {
        for owned in partitions.values where owned.state.awaitsNames { name(owned) }
    }

    /// Ends an isolated run. Others start again, once no durable row says that nothing else runs.
    func endIsolatedRun() {
        guard let ended = scheduler.isolatedRuns.ended else { return }
        if let owned = partitions[ended.partition], owned.state.quarantined.isAlone {
            name(owned)
        } else {
            scheduler.endIsolatedRun(at: moment)
        }
    }

    /// Writes a row that names the flights in progress and those that wait to start, unless another is being written.
    func name(_ owned: OwnedPartition) {
        guard owned.ledger.beginMarker() else { return }
        let places = owned.state.beginNaming()
        // The newest progress shows to which logs these offsets belong.
        write(marked(newestProgress(of: owned) ?? owned.ledger.written, owned, naming: places), of: owned)
    }

    /// Starts the flights that a durable row names.
    func named(by row: ProgressRow, _ owned: OwnedPartition) {
        // Some may have been released meanwhile.
        for grant in owned.state.named(by: row, at: monotonic) where scheduler.holds(grant.kind, grant.flight) {
            feed(granted(grant.kind, grant.flight), to: owned)
        }
    }

    /// Ends the waiting flights, because the log does not accept the row. They end like flights whose rows it does not
    /// accept.
    func end(_ unnamed: [Naming.Grant], of owned: OwnedPartition, _ cause: FailureNote) {
        for grant in unnamed where scheduler.holds(grant.kind, grant.flight) {
            feed(.unannounced(grant.flight, cause), to: owned)
        }
    }

    func tickNaming(_ owned: OwnedPartition) {
        let late = owned.state.abandonLateNaming(at: monotonic)
        end(late, of: owned, FailureNote(LogFailure.unavailable(reason: "it has not accepted a row for a second")))
        if owned.state.quarantined.crashes > 0, let since = owned.lifecycle.ownedSince,
            monotonic - since >= QuarantinedJobs.trial
        {
            owned.state.outliveCrashes()
        }
    }

    func logQuarantined(of owned: OwnedPartition) {
        let quarantined = owned.state.quarantined
        guard quarantined.aloneCount > 0 else { return }
        logger.warning(
            "Workers crashed while these jobs ran. Each job now runs alone in its worker.",
            [
                "partition": .string("\(owned.id)"), "jobs": .int(Int64(quarantined.aloneCount)),
                "crashes": .int(Int64(quarantined.crashes)),
            ])
    }
}
