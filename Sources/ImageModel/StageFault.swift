/// An error that no stage knows as its own: a fault of ours, which costs the job an attempt and is said in the log.
package enum StageFault: StageFailure, Hashable {
    case unexpected(String)

    package var code: String { "stage.unexpected" }
    package var description: String {
        switch self {
        case .unexpected(let reason): "A stage ended unexpectedly: \(reason). It is tried again; report it with the worker's log."
        }
    }
    package var verdict: Verdict { .retry }

    package static let catalogue = [CodeEntry("stage.unexpected", "A stage ended with an error that is none of its own.", .retry)]
}
