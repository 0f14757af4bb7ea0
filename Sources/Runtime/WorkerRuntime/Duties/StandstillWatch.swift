package import Clocks
package import Ledger
internal import Partition
internal import Telemetry

/// Check whether each source that could progress does, for the worker's liveness.
///
/// It watches the steps that only this process and its children can end. A source that stays in one of them for long
/// has a thread or a child that hangs, and a new process would continue. Progress of other sources does not free its
/// place. Work that waits for the log, for its time, or for a permit is in no step. Brokers may be unavailable for
/// hours, and no new process brings them back.
///
/// It costs an entry for each source in progress, and permits bound those.
package struct StandstillWatch: Duty {
    package enum Step: String, Sendable, CaseIterable {
        case fetch = "fetched"
        case render = "rendered"
        case store = "stored"
        /// Look-up of the sources of a batch of records. A file system that hangs holds back the partition's jobs.
        case look = "looked up"
    }

    /// Each source's step, with its start by `clock`.
    private var steps: [FlightID: (step: Step, since: Duration)] = [:]
    /// Total time during which the worker ticked.
    private var clock = Duration.zero
    private var last: Instant?
    /// Time without progress after which a step counts as hung.
    private let limit: Duration
    private var isStill = false

    package init(limit: Duration = .seconds(300)) { self.limit = limit }

    /// Starts a step, and ends the one before, if any.
    package mutating func begin(_ step: Step, of flight: FlightID) { steps[flight] = (step, clock) }

    /// Notes progress of the flight's step, if it is still in one.
    package mutating func comeOn(_ flight: FlightID) { steps[flight]?.since = clock }

    package mutating func end(_ flight: FlightID) { steps[flight] = nil }

    /// Advances the clock. Time without ticks, while the process was stopped, counts little.
    package mutating func tick(at now: Instant) {
        clock += min(now - (last ?? now), Self.longestTick)
        last = now
    }

    mutating func tick(_ view: WorkerView) -> [DutyEffect] {
        tick(at: view.now.monotonic)
        let found = standstill(after: limit)
        defer { isStill = found != nil }
        guard let found, !isStill else { return [.tell(found)] }
        return [.log(.critical, "\(found)"), .tell(found)]
    }

    /// The step that has been without progress for longest, if that exceeds the limit.
    package func standstill(after limit: Duration) -> Standstill? {
        let (began, clock) = (self.clock - limit, clock)
        guard let oldest = steps.values.min(by: { $0.since < $1.since }), oldest.since < began else { return nil }
        return Standstill(
            step: oldest.step, count: steps.values.count { $0.step == oldest.step && $0.since < began },
            running: steps.values.count { $0.step == oldest.step }, age: clock - oldest.since)
    }

    /// Number of sources in each step, and the longest time without progress among them.
    package var loads: [(step: Step, sources: Int, oldest: Duration)] {
        Step.allCases.map { step in
            let times = steps.values.filter { $0.step == step }.map { clock - $0.since }
            return (step, times.count, times.max() ?? .zero)
        }
    }

    private static let longestTick = Duration.seconds(1)
}

/// Work that hangs.
package struct Standstill: Sendable, Equatable, CustomStringConvertible {
    package let step: StandstillWatch.Step
    /// Sources without progress for too long.
    package let count: Int
    /// All sources in that step.
    package let running: Int
    /// Time without progress of the oldest.
    package let age: Duration

    package var description: String {
        "\(fact): a thread or a renderer hangs. Restart the worker (worker.standstill)."
    }

    package var fact: String {
        "\(count) of \(running) sources that are being \(step.rawValue) have not come on, one for \(age.components.seconds) s"
    }
}
