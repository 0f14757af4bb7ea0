package import Failures

/// Reason why a job's host holds it back.
package enum HostHold: String, Sendable, Hashable, CaseIterable {
    /// As many fetches run as the host allows, or as this worker's share of the host's ceiling allows.
    case limit
    /// The group's rate limits its requests or bytes.
    case rate
    /// The host failed, or asked for a pause.
    case breaker
    /// Jobs of the host fill their share of the jobs that are read ahead.
    case readAhead
}

extension FailureNote {
    /// For a parked job: the reason why its host holds it back, if it does.
    package var hold: HostHold? {
        switch RetryCause.Code(rawValue: code) {
        case .hostCrowded: .readAhead
        case .hostBlocked: .breaker
        default: nil
        }
    }
}
