/// A failure as a value: what an outcome, a retry or a dead letter carries of it.
package struct FailureNote: Sendable, Hashable {
    package let code: String
    package let message: String
    package let verdict: Verdict
    package init(code: String, message: String, verdict: Verdict) {
        (self.code, self.message, self.verdict) = (code, message, verdict)
    }
    package init(_ failure: some StageFailure) {
        self.init(code: failure.code, message: failure.description, verdict: failure.verdict)
    }
}
