package import Failures

/// Why what is stored does not answer a job that wants nothing else.
package enum CacheFailure: CodedFailure, Hashable {
    case notStored

    package var kind: Code { .notStored }

    package var description: String {
        switch self {
        case .notStored:
            "The job wants what is stored alone (freshness: cacheOnly), and not all of it is, or it is fresh no longer. Publish it without that field to have the source asked for."
        }
    }

    package enum Code: String, FailureCode {
        case notStored = "cache.not-stored"

        package var meaning: String {
            "The job says freshness: cacheOnly, and what it wants is not stored, or fresh no longer."
        }
        package var verdict: Verdict { .fail }
    }
}
