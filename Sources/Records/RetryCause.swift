package import Failures

/// Why a job goes through the retry topic although nothing failed.
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
            "The job ran longer than \(ms) ms while later ones were done; it goes on through the retry topic, so that lag keeps moving."
        case .deferred: "More retries wait than are kept in memory; this one, far from due, goes to the topic's tail again."
        }
    }

    package enum Code: String, FailureCode {
        case slow = "retry.slow"
        case deferred = "retry.deferred"

        package var meaning: String {
            switch self {
            case .slow: "The job ran long while later ones were done; it goes on through the retry topic."
            case .deferred: "Many retries wait; one that is far from due went to the topic's tail again."
            }
        }

        package var verdict: Verdict { .wait }
    }
}
