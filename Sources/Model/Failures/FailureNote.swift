/// A failure as a value that an outcome, a retry or a dead letter carries.
package struct FailureNote: Sendable, Hashable {
    package let code: String
    package let message: String
    package let verdict: Verdict
    /// Whether code and message are only for logs, metrics and dead letters.
    package let isConfidential: Bool
    package init(code: String, message: String, verdict: Verdict, isConfidential: Bool = false) {
        (self.code, self.message, self.verdict, self.isConfidential) = (code, message, verdict, isConfidential)
    }
    package init(_ failure: some StageFailure) {
        self.init(
            code: failure.code, message: failure.description, verdict: failure.verdict,
            isConfidential: failure.isConfidential)
    }

    /// The same failure of a job that is not retried.
    ///
    /// - Parameter bound: the setting, or the job's field, that limits the attempts.
    package func final(after attempts: Int, _ bound: String) -> FailureNote {
        FailureNote(
            code: code,
            message: "\(message) Gave up after \(attempts == 1 ? "1 attempt" : "\(attempts) attempts") (\(bound)).",
            verdict: verdict, isConfidential: isConfidential)
    }

    /// Code and message as publishers see them.
    package var published: (code: String, message: String) { isConfidential ? Self.unreachable : (code, message) }

    package static let unreachableCode = "fetch.unreachable"

    private static let unreachable = (
        code: unreachableCode,
        message:
            "The source cannot be fetched: its host does not exist, does not respond as it should, or may not be contacted. Check the URL; the worker's log has the details."
    )
}
