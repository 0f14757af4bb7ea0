package import Clocks
package import ImageModel
internal import Ledger
internal import Positions

/// When a failed job is tried again.
package struct RetryPolicy: Sendable, Equatable {
    /// Attempts in all, the first included; after the last the job is a dead letter. 0: where its origin is at fault, time
    /// alone ends it; else five.
    package var attempts: Int
    /// A fast job whose origin has been at fault for so long goes on as a slow one.
    package var giveUpFast = Duration.minutes(1)
    /// A job whose origin has been at fault for so long is a dead letter, unless the job itself says another time.
    package var giveUp = Duration.days(1)
    /// Before the second attempt; doubled for each one after it.
    package var base: Duration
    package var cap: Duration

    package init(attempts: Int = 5, base: Duration = .seconds(1), cap: Duration = .minutes(10)) {
        self.attempts = max(0, attempts)
        self.base = max(.milliseconds(1), base)
        self.cap = max(.milliseconds(1), cap)
    }

    /// Attempts in all where nothing that comes back is at fault.
    package var most: Int { attempts == 0 ? Self.usual : attempts }
    private static let usual = 5

    /// The lane on which a job works whose origin has been at fault since then.
    package func lane(_ lane: Lane, failingSince: WallTime?, at now: WallTime) -> Lane {
        guard lane.isUrgent, let failingSince, now - failingSince >= giveUpFast else { return lane }
        return .background
    }

    /// The setting, or the job's own field, that ends the job after these attempts; nil: none yet.
    ///
    /// - Parameters:
    ///   - isOrigins: its origin was at fault.
    ///   - failing: for so long.
    ///   - limit: of attempts, as the origin's group says.
    func bound(after count: Int, isOrigins: Bool, failing: Duration, giveUp own: Duration?, limit: Int?) -> String? {
        guard isOrigins else { return count >= most ? "retry.attempts" : nil }
        if let limit = limit ?? (attempts > 0 ? attempts : nil), count >= limit {
            return self.attempts == limit ? "retry.attempts" : "attempts of its origin group"
        }
        guard failing >= own ?? giveUp else { return nil }
        return own == nil ? "retry.giveUp" : "the job's giveUp"
    }

    /// How long to wait after `attempt` attempts: half fixed, half spread by `jitter` (0..<1), so that jobs that
    /// failed together do not come back together.
    package func delay(after attempt: Int, jitter: Double) -> Duration {
        Self.spread(base.doubled(min(max(0, attempt - 1), 30), atMost: cap), jitter)
    }

    /// How long to wait where the machine's fault has held the job back for `age`: as long again, so that it begins at
    /// most twice the outage after that began, or an hour after its end.
    package func delay(heldFor age: Duration, jitter: Double) -> Duration {
        let whole = min(max(age, base), DelayTier.hour.wait)
        return whole < DelayTier.shortest ? Self.spread(whole, jitter) : whole
    }

    private static func spread(_ whole: Duration, _ jitter: Double) -> Duration {
        let half = whole.part(0.5)
        return half + (whole - half).part(jitter)
    }
}
