package import Canonical
internal import Failures
package import ImageModel
package import Jobs
internal import Partition
package import Records

/// Results of a run. `stored`, `reused`, `unchanged` and `renders` count variants, the others jobs.
package struct Counters: Sendable, Equatable {
    /// Completed jobs by lane and outcome.
    private var ends = [Int](repeating: 0, count: Lane.count * OutcomeKind.allCases.count)
    /// Jobs that ended as failed or dead, by the code of their outcome.
    package private(set) var endCodes: [String: Int] = [:]
    /// Jobs that were deferred for a retry.
    package var retries = 0
    /// Stages that failed, by code.
    package private(set) var failures: [String: Int] = [:]
    package var stored = 0
    package var reused = 0
    /// Reused variants that were rendered from the kept original, not from another variant.
    package var reusedOriginals = 0
    package var unchanged = 0
    /// Fetches that sent a request to an origin, each with its redirects. A refused address, or a name without one,
    /// causes no request.
    package var requests = 0
    /// Bodies that were received completely, images or not.
    package private(set) var fetches = 0
    /// Results of fetches.
    package private(set) var checks: [SourceCheck: Int] = [:]
    package var notModified: Int { checks[.notModified] ?? 0 }
    /// Counts of each host, or group of hosts.
    package private(set) var hosts: [OriginHost: HostCounts] = [:]
    package struct HostCounts: Sendable, Equatable {
        /// Fetches of known sources, and those of them without a change.
        package var (checks, matches) = (0, 0)
        /// Jobs that were completed with stored variants because the host could not be asked.
        package var stale = 0
    }
    package private(set) var fetchedBytes = 0
    package var renders = 0
    /// Bytes of variants and originals.
    package var storedBytes = 0
    /// Rows that were restored from the changelog into indexes.
    package var restoredRows = 0

    package init() {}

    /// Jobs that have an outcome.
    package var jobs: Int { ends.reduce(0, +) }
    package var failed: Int { jobs(.failed) }
    package var expired: Int { jobs(.expired) }
    package var cancelled: Int { jobs(.cancelled) }
    package var dead: Int { jobs(.dead) }
    package var stale: Int { jobs(.stale) }
    package var degraded: Int { jobs(.degraded) }
    /// Jobs that were completed as requested, less the sources that were fetched or not modified.
    package var savedFetches: Int {
        max(0, jobs(.stored) + jobs(.reused) + jobs(.unchanged) - fetches - notModified)
    }

    package func jobs(_ kind: OutcomeKind, on lane: Lane) -> Int { ends[Self.place(kind, lane)] }
    private func jobs(_ kind: OutcomeKind) -> Int { Lane.allCases.reduce(0) { $0 + jobs(kind, on: $1) } }

    private static func place(_ kind: OutcomeKind, _ lane: Lane) -> Int {
        let kind =
            switch kind {
            case .stored: 0
            case .reused: 1
            case .unchanged: 2
            case .failed: 3
            case .expired: 4
            case .cancelled: 5
            case .dead: 6
            case .stale: 7
            case .degraded: 8
            }
        return lane.ordinal * OutcomeKind.allCases.count + kind
    }

    /// The parts of an outcome that counting needs. Thousands wait for their acknowledgement, so their rows are
    /// dropped.
    struct Completion: Sendable {
        let kind: OutcomeKind
        let lane: Lane
        let unchanged: Int
        let failed: Failed?

        /// Content of the log line about the failure. It is shared, because few jobs fail and all are counted.
        final class Failed: Sendable {
            let job: String
            let url: ShownURL
            let cause: FailureNote
            init(_ outcome: Outcome, _ cause: FailureNote) {
                (job, url, self.cause) = (outcome.job, outcome.url.shown, cause)
            }
        }

        init(_ outcome: Outcome) {
            (kind, lane) = (outcome.kind, outcome.lane)
            failed = outcome.kind.isSuccess ? nil : outcome.failure.map { Failed(outcome, $0) }
            // All variants are unchanged most times, and examining each costs a copy of its row.
            let variants = outcome.variants
            unchanged = kind == .unchanged ? variants.count : variants.count { $0.kind == .unchanged }
        }
    }

    /// Counts an outcome that is in the log.
    mutating func count(_ completion: Completion) {
        ends[Self.place(completion.kind, completion.lane)] += 1
        unchanged += completion.unchanged
        if let failed = completion.failed { endCodes[failed.cause.code, default: 0] += 1 }
    }

    /// Counts a stage that failed, regardless of the job's result.
    mutating func countFailure(_ code: String, times: Int = 1) { failures[code, default: 0] += times }

    /// Counts variants that are in the changelog.
    ///
    /// - Parameters:
    ///   - kept: number of variants rendered from the kept original.
    ///   - same: number of variants whose bytes did not change.
    mutating func count(variants: Int, isReuse: Bool, kept: Int, same: Int) {
        renders += variants
        if isReuse {
            (reused, reusedOriginals) = (reused + variants, reusedOriginals + kept)
        } else {
            stored += variants - same
        }
    }

    mutating func countBody(of bytes: Int) { (fetches, fetchedBytes) = (fetches + 1, fetchedBytes + bytes) }

    /// Counts a source that was requested from an origin.
    mutating func count(_ check: SourceCheck, of host: OriginHost) {
        checks[check, default: 0] += 1
        guard check != .new else { return }
        count(of: host) {
            $0.checks += 1
            if check.isMatch { $0.matches += 1 }
        }
    }

    mutating func countStandIn(for host: OriginHost) { count(of: host) { $0.stale += 1 } }

    private mutating func count(of host: OriginHost, _ body: (inout HostCounts) -> Void) {
        if hosts[host] != nil || hosts.count < Self.hostLimit { body(&hosts[host, default: HostCounts()]) }
    }
    /// Maximum number of hosts that are counted separately.
    private static let hostLimit = 1_000
}
