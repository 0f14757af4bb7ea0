package import Canonical
package import Clocks
package import Hosts
internal import ImageModel
package import Ledger
package import Planning

/// Queries about flights.
extension Jobs {
    package func has(_ flight: FlightID) -> Bool { flights[flight] != nil }
    /// Whether the flight has had a permit.
    package func hasBegun(_ flight: FlightID) -> Bool { flights[flight]?.course != nil }
    /// Whether a fetch, or a render with the work after it, runs for the flight.
    package func isAtWork(_ flight: FlightID) -> Bool { flights[flight]?.isAtWork ?? false }
    /// Whether a flight that has had a permit is not over.
    package var isUnderWay: Bool { flights.all.contains { $0.course != nil } }
    /// Sources of flights that have had a permit.
    package var sourcesUnderWay: Set<SourceKey> { Set(flights.all.lazy.filter { $0.course != nil }.map(\.source)) }
    package func isInFlight(_ source: SourceKey) -> Bool { flights.flight(of: source) != nil }
    package var hasFlights: Bool { !flights.isEmpty }
    /// Jobs that flights hold, by the host whose share they take.
    package var held: [HostLane: Int] { flights.held }
    package var flightIDs: some Sequence<FlightID> { flights.ids }

    /// Jobs that the flight must complete.
    package func pendingJobs(of flight: FlightID) -> [PendingJob] { flights[flight]?.pendingJobs ?? [] }

    /// Time of the flight's first permit, or of the permit for its last redirect target. nil before that, and once it
    /// has announced rows, because its jobs are counted by then.
    package func beginning(of flight: FlightID) -> Instant? {
        flights[flight]?.course.flatMap { $0.position == 0 ? $0.began : nil }
    }

    /// Reasons why no stored variant could replace the source that the flight fetches.
    package func donorRefusals(of flight: FlightID, at now: WallTime) -> [DonorRefusal] {
        guard rules.reuse.isEnabled, let flight = flights[flight], !flight.snapshot.variants.isEmpty,
            let version = flight.snapshot.version
        else { return [] }
        let question = DonorQuestion(
            version: version, sourceHasAlpha: flight.snapshot.source?.hasAlpha,
            regions: flight.snapshot.source?.regions ?? [],
            isFocusKnown: flight.snapshot.source?.isFocusKnown ?? false, now: now, rules: rules.reuse)
        return flight.missing.flatMap { Donor.refusals(for: $0, in: flight.snapshot, question) }
    }
}
