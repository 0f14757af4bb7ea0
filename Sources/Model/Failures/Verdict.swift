/// What happens to a job whose stage failed. Less is less final: of two, the least still lets the job end well.
package enum Verdict: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Later, without counting an attempt: the fault is this machine's, not the job's.
    case wait
    /// Later, through the retry topic.
    case retry
    /// Never: an outcome says why.
    case fail
    /// A person must look: the original bytes are kept.
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
