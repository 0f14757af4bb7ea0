package import Canonical
internal import Clocks

/// How hosts are treated: all of them, and groups that the settings name.
package struct OriginRules: Sendable, Equatable {
    /// Fetches at once from one host, at most.
    package var concurrency: Int
    /// With so many a host begins, or with a quarter of its ceiling if that is more: one that was raised is known to bear it.
    package var start: Int
    /// Failures in a row after which a host is left alone, or half of the last `RecentAnswers.window` answers; 0: never.
    package var failures: Int
    /// For so long the first time, and for so much longer each time after it, up to the cap.
    package var pause = Duration.seconds(30)
    package var pauseCap = Duration.minutes(10)
    /// The same for one that wants to be left alone and does not say for how long; doubled each time. 0: that is a failure
    /// like others.
    package var backoff: Duration
    package var backoffCap = Duration.days(1)
    /// A host without trouble for so long begins with the first of these again.
    package var quiet = Duration.minutes(30)
    package var groups: [OriginGroup] = []
    package var limits: [String: GroupLimits] = [:]

    package static let usualFailures = 5

    package init(
        concurrency: Int = 6, start: Int = 2, failures: Int = Self.usualFailures, backoff: Duration = .minutes(1)
    ) {
        (self.concurrency, self.start) = (max(1, concurrency), max(1, start))
        (self.failures, self.backoff) = (max(0, failures), max(.zero, backoff))
    }

    /// Without limits and breakers of hosts, as rules are where nothing is said.
    package static let unbounded = OriginRules(concurrency: .max, start: .max, failures: 0, backoff: .zero)

    /// What one group has of its own; nil: as all hosts.
    package struct GroupLimits: Sendable, Equatable {
        package var concurrency: Int?
        /// Fetches begun a second.
        package var rate: Double?
        package var bytesPerSecond: Int?
        /// Tries of a job, at most.
        package var attempts: Int?
        /// See `FreshnessRules`.
        package var floor: Duration?
        package var ceiling: Duration?

        package init(
            concurrency: Int? = nil, rate: Double? = nil, bytesPerSecond: Int? = nil, attempts: Int? = nil
        ) {
            (self.concurrency, self.rate) = (concurrency, rate)
            (self.bytesPerSecond, self.attempts) = (bytesPerSecond, attempts)
        }
    }

    package func limits(of host: OriginHost) -> GroupLimits { limits[host.description] ?? GroupLimits() }

    /// Fetches at once from the host, of all workers together.
    package func ceiling(of host: OriginHost) -> Int { max(1, limits(of: host).concurrency ?? concurrency) }
}
