internal import Clocks
internal import Failures
internal import ImageModel
package import Ledger
internal import Positions
package import Records

/// Jobs that owners may have died of: which are named, which run alone, and which are not run again.
extension Jobs {
    /// Whether the flight must be named by a durable row before it begins.
    package func needsName(_ id: FlightID) -> Bool {
        suspects.isNaming && (!hasBegun(id) || flights[id]?.redirect != nil)
            && !places(of: id).isSubset(of: suspects.named)
    }

    /// Of every job that waits for the flight.
    private func places(of id: FlightID) -> Set<RecordPlace> { Set(flights[id]?.pendingJobs.map(\.place) ?? []) }

    /// What a row names: jobs of these flights, and of those that have had a permit. Offsets of a log that was replaced
    /// are other records' now.
    package func names(with begun: some Sequence<FlightID>) -> Set<RecordPlace> {
        let begun = Set(begun)
        var places: Set<RecordPlace> = []
        // Between two hosts a flight runs nothing that an owner could die of.
        for flight in flights.all
        where (flight.course != nil && flight.redirect == nil) || begun.contains(flight.id) {
            for pending in flight.pendingJobs where pending.place.incarnation == incarnations[pending.place.topic] {
                places.insert(pending.place)
            }
        }
        return places
    }

    /// Of those that the newest row names, what is under way still.
    package var namedStill: Set<RecordPlace> {
        suspects.named.isEmpty ? [] : suspects.named.intersection(names(with: []))
    }

    /// The row is durable.
    package mutating func name(by row: ProgressRow) {
        suspects.name(names(in: row), isAlone: row.suspects.contains { $0.begun == .alone })
    }

    /// The row is on its way: what it does not name must be named again before it begins again.
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

    /// Asks again in the right way: a suspect joined a flight that had not begun.
    func isolate(_ flight: Flight, _ effects: inout [JobEffect]) {
        if case .queued(let kind) = flight.stage, runsAlone(flight) { request(kind, for: flight, &effects) }
    }

    /// Whether nothing else may be under way while the flight is.
    func runsAlone(_ flight: Flight) -> Bool {
        suspects.isNaming && flight.pendingJobs.contains { suspects.runsAlone($0.place) }
    }

    func condemn(_ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect]) {
        let cause = FailureNote(JobFailure.poison(job: pending.job.id, url: pending.job.url))
        effects.setAside(pending, cause, attempts: pending.attempts, at: now)
    }
}
