package import Canonical
package import ImageModel

/// What waits for permits and what holds them, for those who watch the rules from outside.
extension PermitScheduler {
    package struct Standing: Sendable {
        package let flight: FlightID
        package let lane: Lane
        package let host: OriginHost
        package let waits: PermitKind?
        package let holds: Set<PermitKind>
        /// When its oldest job came, milliseconds since 1970.
        package let since: Int64
        /// Orders what came to wait and what was granted: who was granted at 7 came after who waits since 7.
        package let number: Int
    }

    package var standings: [Standing] {
        seats.map { flight, seat in
            Standing(
                flight: flight, lane: seat.lane, host: seat.host, waits: seat.waits, holds: seat.holds,
                since: seat.since, number: seat.ticket)
        }
    }
}
