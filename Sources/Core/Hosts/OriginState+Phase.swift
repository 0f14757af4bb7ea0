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

    /// What is wrong, and since when.
    package struct Trouble: Sendable, Equatable {
        package let since: Moment
        package let code: String
    }

    /// What people hear of.
    package enum Change: Sendable, Equatable { case blocked, opened }
}
