package import Canonical
internal import Clocks

/// Limits and circuit breaker settings for hosts: for all of them, and for groups that the settings name.
package struct OriginRules: Sendable, Equatable {
    /// Maximum concurrent fetches from one host.
    package var concurrency: Int
    /// Initial limit of a host, or a quarter of its ceiling if that is more. An operator who raised a ceiling knows
    /// that the host bears it.
    package var start: Int
    /// Failures in a row that open a host's circuit breaker. Failures in half of the last `RecentResponses.window`
    /// responses open it, too. 0: never.
    package var failures: Int
    /// First pause of a blocked host. Each further pause is longer by as much, up to the cap.
    package var pause = Duration.seconds(30)
    package var pauseCap = Duration.minutes(10)
    /// First pause of a host that asks for one without naming a duration. It doubles each time. 0: such a response
    /// counts as an ordinary failure.
    package var backoff: Duration
    package var backoffCap = Duration.days(1)
    /// Time without trouble after which a host's pauses start again from the first.
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

    /// Rules without limits and circuit breakers of hosts. They apply where none are given.
    package static let unbounded = OriginRules(concurrency: .max, start: .max, failures: 0, backoff: .zero)

    /// A group's own limits. nil: the value for all hosts.
    package struct GroupLimits: Sendable, Equatable {
        package var concurrency: Int?
        /// Fetches started per second.
        package var rate: Double?
        package var bytesPerSecond: Int?
        /// Maximum attempts of a job.
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

    /// Concurrent fetches from the host allowed for all workers together.
    package func ceiling(of host: OriginHost) -> Int { max(1, limits(of: host).concurrency ?? concurrency) }
}
