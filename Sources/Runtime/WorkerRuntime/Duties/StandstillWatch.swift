package import Clocks
package import Ledger
internal import Partition
internal import Telemetry

/// Whether each source that could come on does: what liveness goes by.
///
/// Looked at are the steps that nobody but this process and its children can end. A source that stays in one of them for long
/// has a thread that hangs, or a child, and a new process would go on: that others come on beside it does not give the seat
/// back. Whatever waits for the log, for its time, or for a permit is in no step: brokers may be away for hours, and no new
/// process brings them back.
///
/// It costs an entry for each source under way, and permits bound those.
package struct StandstillWatch: Duty {
    package enum Step: String, Sendable, CaseIterable {
        case fetch = "fetched"
        case render = "rendered"
        case store = "stored"
        /// Of the sources of a slice of records: a file system that hangs holds back the partition's jobs.
        case look = "looked up"
    }

    /// Each source's step, and when it began, by `clock`.
    private var steps: [FlightID: (step: Step, since: Duration)] = [:]
    /// The time in which somebody looked.
    private var clock = Duration.zero
    private var last: Instant?
    /// A step that makes no progress for this long counts as hung.
    private let limit: Duration
    private var isStill = false

    package init(limit: Duration = .seconds(300)) { self.limit = limit }

    /// Ends the step before, if there is one.
    package mutating func begin(_ step: Step, of flight: FlightID) { steps[flight] = (step, clock) }

    /// Its step has come on, if it is still in one.
    package mutating func comeOn(_ flight: FlightID) { steps[flight]?.since = clock }

    package mutating func end(_ flight: FlightID) { steps[flight] = nil }

    /// Time in which nobody looked, since the process was stopped, counts little.
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

    /// The step in which one has stood still for longest, if that is longer than may be.
    package func standstill(after limit: Duration) -> Standstill? {
        let (began, clock) = (self.clock - limit, clock)
        guard let oldest = steps.values.min(by: { $0.since < $1.since }), oldest.since < began else { return nil }
        return Standstill(
            step: oldest.step, count: steps.values.count { $0.step == oldest.step && $0.since < began },
            running: steps.values.count { $0.step == oldest.step }, seconds: (clock - oldest.since).components.seconds)
    }

    /// Sources in each step, and the longest time without progress among them.
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
    /// Sources that have not come on for too long.
    package let count: Int
    /// All in that step.
    package let running: Int
    /// Of the oldest.
    package let seconds: Int64

    package var description: String {
        "\(fact): a thread or a renderer hangs. Start the worker anew (worker.standstill)."
    }

    package var fact: String {
        "\(count) of \(running) sources that are being \(step.rawValue) have not come on, one for \(seconds) s"
    }
}
