package import Clocks
package import ImageModel
internal import Ledger
internal import Positions

/// Times and limits of retries.
package struct RetryPolicy: Sendable, Equatable {
    /// Maximum attempts, including the first. After the last the job is a dead letter. 0: time alone ends a job whose
    /// origin is at fault, and five attempts end any other.
    package var attempts: Int
    /// Duration of an origin's fault after which a fast job continues as a slow one.
    package var retryForFast = Duration.minutes(1)
    /// Duration of an origin's fault after which a job is a dead letter, unless the job sets its own.
    package var retryFor = Duration.days(1)
    /// Wait before the second attempt. It doubles for each further one.
    package var base: Duration
    package var cap: Duration

    package init(attempts: Int = 5, base: Duration = .seconds(1), cap: Duration = .minutes(10)) {
        self.attempts = max(0, attempts)
        self.base = max(.milliseconds(1), base)
        self.cap = max(.milliseconds(1), cap)
    }

    /// Maximum attempts if the fault is not an origin's.
    package var most: Int { attempts == 0 ? Self.usual : attempts }
    private static let usual = 5

    /// Lane on which a job runs whose origin has been at fault since `failingSince`.
    package func lane(_ lane: Lane, failingSince: WallTime?, at now: WallTime) -> Lane {
        guard lane.isUrgent, let failingSince, now - failingSince >= retryForFast else { return lane }
        return .background
    }

    /// The setting, or the job's own field, that ends the job after these attempts; nil: none yet.
    ///
    /// - Parameters:
    ///   - isOrigins: whether its origin was at fault.
    ///   - failing: how long the origin has been at fault.
    ///   - limit: maximum attempts that the origin's group sets.
    func bound(after count: Int, isOrigins: Bool, failing: Duration, retryFor own: Duration?, limit: Int?) -> String? {
        guard isOrigins else { return count >= most ? "retry.attempts" : nil }
        if let limit = limit ?? (attempts > 0 ? attempts : nil), count >= limit {
            return self.attempts == limit ? "retry.attempts" : "attempts of its origin group"
        }
        guard failing >= own ?? retryFor else { return nil }
        return own == nil ? "retry.retryFor" : "the job's retryFor"
    }

    /// Wait after `attempt` attempts: half fixed, half spread by `jitter` (0..<1), so that jobs that failed together do
    /// not return together.
    package func delay(after attempt: Int, jitter: Double) -> Duration {
        Self.spread(base.doubled(min(max(0, attempt - 1), 30), atMost: cap), jitter)
    }

    /// Wait of a job that the machine's fault has held back for `age`: as long again. So the job starts at most twice
    /// the outage after its beginning, or an hour after its end.
    package func delay(heldFor age: Duration, jitter: Double) -> Duration {
        Self.spread(min(max(age, base), .hours(1)), jitter)
    }

    private static func spread(_ whole: Duration, _ jitter: Double) -> Duration {
        let half = whole.part(0.5)
        return half + (whole - half).part(jitter)
    }
}
