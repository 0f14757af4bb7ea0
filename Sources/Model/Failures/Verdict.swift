/// Decision about a job whose stage failed. Verdicts are ordered by finality: the smallest of several leaves the job
/// the best chance to succeed.
package enum Verdict: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Retries later without counting an attempt, because the fault is this machine's and not the job's.
    case wait
    /// Retries later: the job is parked until then.
    case retry
    /// Ends the job with an outcome that states the failure.
    case fail
    /// Keeps the original bytes for a person to look at.
    case deadLetter = "dead letter"

    private var finality: Int {
        switch self {
        case .wait: 0
        case .retry: 1
        case .fail: 2
        case .deadLetter: 3
        }
    }

    package static func < (a: Self, b: Self) -> Bool { a.finality < b.finality }
}
