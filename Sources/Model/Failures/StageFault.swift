/// An error that no stage knows: a bug in Mezzotint, which costs the job an attempt and is logged.
package enum StageFault: CodedFailure, Hashable {
    case unexpected(String)

    package var kind: Code { .unexpected }

    package var description: String {
        switch self {
        case .unexpected(let reason): "A stage ended unexpectedly: \(reason). Report it with the worker's log."
        }
    }

    package enum Code: String, FailureCode {
        case unexpected = "stage.unexpected"

        package var meaning: String { "A stage ended with an unknown error." }
        package var verdict: Verdict { .retry }
    }
}
