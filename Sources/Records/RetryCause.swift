package import Failures

/// Why a job goes through a retry topic although nothing failed.
package enum RetryCause: CodedFailure, Hashable {
    case slow(milliseconds: Int64)
    case deferred

    package var kind: Code {
        switch self {
        case .slow: .slow
        case .deferred: .deferred
        }
    }

    package var description: String {
        switch self {
        case .slow(let ms):
            "The job ran longer than \(ms) ms while later ones were done; it goes on through a retry topic, so that lag keeps moving."
        case .deferred: "The job's wait is not over: it goes on in a retry topic."
        }
    }

    package enum Code: String, FailureCode {
        case slow = "retry.slow"
        case deferred = "retry.deferred"

        package var meaning: String {
            switch self {
            case .slow: "The job ran long while later ones were done; it goes on through a retry topic."
            case .deferred: "The job's wait is not over: it goes on in a retry topic."
            }
        }

        package var verdict: Verdict { .wait }
    }
}
