package import Failures

/// What of its host held a job back.
package enum HostHold: String, Sendable, Hashable, CaseIterable {
    /// As many fetches ran as the host bears, or as this worker has of its ceiling.
    case limit
    /// It had been asked as often, or had sent as much, as its group's rate allows.
    case rate
    /// It failed, or wanted to be left alone.
    case breaker
    /// Its jobs filled their share of what is read ahead.
    case readAhead
}

extension FailureNote {
    /// Of a job in a tier, what of its host holds it back, if that does.
    package var hold: HostHold? {
        switch RetryCause.Code(rawValue: code) {
        case .hostCrowded: .readAhead
        case .hostBlocked: .breaker
        default: nil
        }
    }
}
