package import Clocks
package import Ledger

/// Whether a host is asked.
extension OriginState {
    package enum Phase: Sendable, Equatable {
        case open
        /// Nothing is asked until then; then one flight is.
        case blocked(until: Instant)
        case probing(FlightID)
    }

    /// What people hear of.
    package enum Change: Sendable, Equatable { case blocked, opened }
}
