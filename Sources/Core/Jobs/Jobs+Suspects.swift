internal import Clocks
internal import Failures
internal import ImageModel
package import Ledger
internal import Positions
package import Records

/// Jobs that may have crashed owners: which are named, which run alone, and which are not run again.
extension Jobs {
    /// Whether a durable row must name the flight before it starts.
    package func needsName(_ id: FlightID) -> Bool {
        suspects.isNaming && (!hasBegun(id) || flights[id]?.redirect != nil)
            && !places(of: id).isSubset(of: suspects.named)
    }

    /// Positions of every job that waits for the flight.
    private func places(of id: FlightID) -> Set<RecordPlace> { Set(flights[id]?.pendingJobs.map(\.place) ?? []) }

    /// Positions that a row names: jobs of these flights, and of flights that have had a permit. Offsets of a log that
    /// was replaced are left out, because they belong to other records now.
    package func names(with begun: some Sequence<FlightID>) -> Set<RecordPlace> {
        let begun = Set(begun)
        var places: Set<RecordPlace> = []
        // Between two hosts a flight runs nothing that could crash an owner.
        for flight in flights.all
        where (flight.course != nil && flight.redirect == nil) || begun.contains(flight.id) {
            for pending in flight.pendingJobs where pending.place.incarnation == incarnations[pending.place.topic] {
                places.insert(pending.place)
            }
        }
        return places
    }

    /// Positions named by the newest row that are still in progress.
    package var namedStill: Set<RecordPlace> {
        suspects.named.isEmpty ? [] : suspects.named.intersection(names(with: []))
    }

    /// Applies the names of a durable row.
    package mutating func name(by row: ProgressRow) {
        suspects.name(names(in: row), isAlone: row.suspects.contains { $0.begun == .alone })
    }

    /// Drops names that the row being written does not contain. They must be named again before they start again.
    package mutating func forgetNames(but row: ProgressRow) {
        if !suspects.named.isEmpty {
            suspects.name(suspects.named.intersection(names(in: row)), isAlone: suspects.isAlone)
        }
    }

    private func names(in row: ProgressRow) -> Set<RecordPlace> {
        var places: Set<RecordPlace> = []
        for suspect in row.suspects where suspect.begun != nil {
            places.insert(RecordPlace(suspect.topic, suspect.offset, incarnation: incarnations[suspect.topic]))
        }
        return places
    }

    /// Requests the permit again as an isolated run, because a suspect joined a flight that had not begun.
    func isolate(_ flight: Flight, _ effects: inout [JobEffect]) {
        if case .queued(let kind) = flight.stage, runsAlone(flight) { request(kind, for: flight, &effects) }
    }

    /// Whether nothing else may be in progress while the flight is.
    func runsAlone(_ flight: Flight) -> Bool {
        suspects.isNaming && flight.pendingJobs.contains { suspects.runsAlone($0.place) }
    }

    func condemn(_ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect]) {
        let cause = FailureNote(JobFailure.poison(job: pending.job.id, url: pending.job.url))
        effects.setAside(pending, cause, attempts: pending.attempts, at: now)
    }
}
