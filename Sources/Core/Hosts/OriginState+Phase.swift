package import Clocks
package import Ledger

/// Whether a host may be asked.
extension OriginState {
    package enum Phase: Sendable, Equatable {
        case open
        /// No fetch starts before this time. Then one flight probes the host.
        case blocked(until: Instant)
        case probing(FlightID)
    }

    /// Code of the current failure, and its start.
    package struct Trouble: Sendable, Equatable {
        package let since: Moment
        package let code: String
    }

    /// Changes that operators are notified of.
    package enum Change: Sendable, Equatable { case blocked, opened }
}
