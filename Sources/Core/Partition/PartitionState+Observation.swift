package import Clocks
internal import ImageModel
package import Ledger
package import Planning

/// What those who measure may know of a flight; no decision depends on it.
extension PartitionState {
    /// The jobs that the flight is to answer.
    package func pendingJobs(of flight: FlightID) -> [PendingJob] { flights[flight]?.pendingJobs ?? [] }

    /// When the flight got its first permit, or that of the last host that redirects led to; nil before, and once it
    /// has announced something: its jobs are counted by then.
    package func beginning(of flight: FlightID) -> Instant? {
        flights[flight]?.course.flatMap { $0.position == 0 ? $0.began : nil }
    }

    /// Why what is stored did not stand in for the source that the flight fetches.
    package func donorRefusals(of flight: FlightID, at now: WallTime) -> [DonorRefusal] {
        guard rules.reuse.isEnabled, let flight = flights[flight], !flight.snapshot.variants.isEmpty,
            let version = flight.snapshot.version
        else { return [] }
        let question = DonorQuestion(
            version: version, sourceHasAlpha: flight.snapshot.source?.hasAlpha,
            focalPoint: flight.snapshot.source?.focalPoint,
            isFocusKnown: flight.snapshot.source?.isFocusKnown ?? false, now: now, rules: rules.reuse)
        return flight.missing.flatMap { Donor.refusals(for: $0, in: flight.snapshot, question) }
    }
}
