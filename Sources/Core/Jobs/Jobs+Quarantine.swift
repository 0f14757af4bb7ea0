package import Clocks
internal import Failures
internal import Hosts
internal import ImageModel
internal import Ledger
internal import Permits
internal import Positions
package import Quarantine
package import Records

/// The door to jobs that may have crashed owners (`QuarantinedJobs`): which are named, which run alone, and which are
/// not run again. While no owner has crashed, none is.
extension Jobs {
    /// Takes over the quarantined jobs, the counts and the pauses that earlier owners left. `isOwn`: this worker wrote the row
    /// itself.
    package mutating func takeOver(_ left: ProgressRow?, isOwn: Bool) {
        quarantined = QuarantinedJobs(after: left, isOwn: isOwn)
        pauses.takeOver(left?.pauses ?? [])
    }

    /// Notes that the topic's log is another one: before its first record is read, the rows of owners that crashed may
    /// be about this log.
    package mutating func noteNewLog(of topic: Topic, isFirst: Bool) {
        controls.forgetOffsets(of: topic)
        if isFirst { quarantined.doubt(topic) } else { quarantined.forget(topic) }
    }

    /// Ends the series of crashes, because the owner has lived long enough.
    package mutating func outliveCrashes() { quarantined.outlive() }

    /// Forgets quarantined jobs below the offset, because all records there are finished.
    package mutating func forgetQuarantined(_ topic: Topic, below offset: Int64) { quarantined.forget(topic, below: offset) }

    /// Whether flights are named before they start.
    var isNaming: Bool { quarantined.isNaming }

    /// Number of owners that crashed while the job was in progress, or may have been.
    func crashes(of pending: PendingJob) -> Int { quarantined.crashes(of: pending.place) }

    /// Whether the job is not run again, by its record's crashes or this owner's knowledge.
    mutating func isCondemned(_ pending: PendingJob) -> Bool {
        quarantined.note(pending.place, crashes: pending.crashes)
        return quarantined.isCondemned(pending.place)
    }

    func condemn(_ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect]) {
        let cause = FailureNote(JobFailure.poison(job: pending.job.id, url: pending.job.url))
        effects.deadLetter(pending, cause, attempts: pending.attempts, at: now)
    }

    /// Clears records that are completed, or whose render the worker survived.
    mutating func clear(_ places: some Sequence<RecordPlace>) { for place in places { quarantined.clear(place) } }

    /// Notes that the flight of these jobs is over, with any result.
    mutating func outlive(_ pendingJobs: [PendingJob]) {
        if isNaming { for pending in pendingJobs { quarantined.outlive(pending.place) } }
    }

    /// Whether nothing else may be in progress while the flight is, because a quarantined job waits for it.
    func runsAlone(_ flight: Flight) -> Bool {
        isNaming && flight.pendingJobs.contains { quarantined.runsAlone($0.place) }
    }

    /// Request for an isolated run, if the flight needs one.
    func isolatedRun(of flight: Flight, _ kind: PermitKind) -> PermitChange? {
        guard runsAlone(flight) else { return nil }
        let request = IsolatedRuns.Request(kind, flight.id, flight.lane, since: flight.since, flight.asked)
        return .isolate(request, patience: quarantined.patience(for: flight.pendingJobs.lazy.map(\.place)))
    }

    /// Requests the permit again as an isolated run, if a quarantined job joined a flight that had not begun.
    func isolate(_ flight: Flight, joinedBy pending: PendingJob, _ effects: inout [JobEffect]) {
        guard quarantined.runsAlone(pending.place), case .queued(let kind) = flight.stage, runsAlone(flight) else { return }
        request(kind, for: flight, &effects)
    }
}

/// Names of flights in progress rows.
extension Jobs {
    /// Whether a durable row must name the flight before it starts with its permit. If so, `named` returns the grant.
    package mutating func awaitsName(_ grant: Naming.Grant, at now: Instant) -> Bool {
        guard isNaming, needsName(grant.flight) else { return false }
        naming.add(grant, at: now)
        return true
    }

    private func needsName(_ id: FlightID) -> Bool {
        (!hasBegun(id) || flights[id]?.redirect != nil)
            && !(flights[id]?.pendingJobs.allSatisfy { quarantined.named.contains($0.place) } ?? true)
    }

    /// Whether flights wait for the next row.
    package var awaitsNames: Bool { naming.isWaiting }

    /// Positions that the next row names: jobs of the waiting flights, and of flights that have had a permit.
    package mutating func beginNaming() -> Set<RecordPlace> { names(with: naming.begin()) }

    /// Applies the names of a durable row. Returns the flights that start now.
    package mutating func named(by row: ProgressRow, at now: Instant) -> [Naming.Grant] {
        quarantined.name(names(in: row), isAlone: row.quarantined.contains { $0.begun == .alone })
        return naming.named(at: now)
    }

    /// Returns the waiting flights, because the log does not accept a row with their names.
    package mutating func abandonNaming() -> [Naming.Grant] { naming.abandon() }

    /// Returns the waiting flights if they have waited too long.
    package mutating func abandonLateNaming(at now: Instant) -> [Naming.Grant] {
        naming.isLate(at: now) ? naming.abandon() : []
    }

    /// Positions named by the newest row that are still in progress.
    package var namedStill: Set<RecordPlace> {
        quarantined.named.isEmpty ? [] : quarantined.named.intersection(names(with: []))
    }

    /// Drops names that the row being written does not contain. They must be named again before they start again.
    package mutating func forgetNames(but row: ProgressRow) {
        if !quarantined.named.isEmpty {
            quarantined.name(quarantined.named.intersection(names(in: row)), isAlone: quarantined.isAlone)
        }
    }

    /// Jobs of these flights, and of flights that have had a permit. Offsets of a log that was replaced are left out,
    /// because they belong to other records now.
    private func names(with begun: [FlightID]) -> Set<RecordPlace> {
        var places: Set<RecordPlace> = []
        // Between two hosts a flight runs nothing that could crash an owner.
        for flight in flights.all
        where (flight.course != nil && flight.redirect == nil) || begun.contains(flight.id) {
            for pending in flight.pendingJobs where pending.place.incarnation == incarnations[pending.place.topic] && pending.place.offset >= 0 {
                places.insert(pending.place)
            }
        }
        return places
    }

    private func names(in row: ProgressRow) -> Set<RecordPlace> {
        var places: Set<RecordPlace> = []
        for quarantinedJob in row.quarantined where quarantinedJob.begun != nil {
            places.insert(RecordPlace(quarantinedJob.topic, quarantinedJob.offset, incarnation: incarnations[quarantinedJob.topic]))
        }
        return places
    }
}
