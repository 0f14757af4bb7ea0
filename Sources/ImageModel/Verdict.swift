/// What happens to a job whose stage failed.
package enum Verdict: String, Sendable, Hashable {
    /// Later, through the retry topic.
    case retry
    /// Later, without counting an attempt: the fault is this machine's, not the job's.
    case wait
    /// Never: an outcome says why.
    case fail
    /// A person must look: the original bytes are kept.
    case deadLetter = "dead letter"
}
