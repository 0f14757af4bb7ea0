package import Failures

/// Reason why stored data cannot complete a job that must not fetch.
package enum CacheFailure: CodedFailure, Hashable {
    case notStored

    package var kind: Code { .notStored }

    package var description: String {
        switch self {
        case .notStored:
            "At least one variant is not stored, or is stale, and the job says freshness: cacheOnly. Publish it without that field to have the source fetched."
        }
    }

    package enum Code: String, FailureCode {
        case notStored = "cache.not-stored"

        package var meaning: String {
            "The job has freshness: cacheOnly, and at least one variant is not stored or is stale."
        }
        package var verdict: Verdict { .fail }
    }
}
