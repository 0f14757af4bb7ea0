/// When a job fetches its source.
package enum JobFreshness: String, Sendable, Hashable, CaseIterable {
    /// Fetches unless fresh stored data completes the job.
    case ifStale
    /// Always fetches: the origin confirms the stored version, or sends a new one.
    case force
    /// Never fetches: the job completes from stored variants, or fails.
    case cacheOnly

    package static let names = allCases.map(\.rawValue).joined(separator: ", ")
}

/// Stored variants that may complete a job while its origin fails.
package enum JobFallback: String, Sendable, Hashable, CaseIterable {
    case none
    /// The requested variants, even if they are stale.
    case stale
    /// The requested variants, or the nearest stored ones.
    case degraded

    package static let names = allCases.map(\.rawValue).joined(separator: ", ")
}
