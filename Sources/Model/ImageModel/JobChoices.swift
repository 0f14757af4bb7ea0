/// When a job's source is asked for.
package enum JobFreshness: String, Sendable, Hashable, CaseIterable {
    /// When what is stored is fresh no longer.
    case ifStale
    /// In any case: its origin confirms what is stored, or gives something else.
    case force
    /// Never: what is stored answers, or nothing does.
    case cacheOnly

    package static let names = allCases.map(\.rawValue).joined(separator: ", ")
}

/// What may answer a job while its origin fails.
package enum JobFallback: String, Sendable, Hashable, CaseIterable {
    case none
    /// The very variants, though they are fresh no longer.
    case stale
    /// These, or the nearest ones that are stored.
    case degraded

    package static let names = allCases.map(\.rawValue).joined(separator: ", ")
}
