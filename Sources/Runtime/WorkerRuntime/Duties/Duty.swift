internal import Clocks
internal import Failures
internal import Telemetry

/// A standing task of the worker: a value with private state. Each tick calls it for the effects that are due.
///
/// It never awaits, reads a clock, or touches a file. `Worker.perform` performs the effects that it returns. A new duty
/// is a property and a line of `Duties`.
protocol Duty: Sendable {
    mutating func tick(_ view: WorkerView) -> [DutyEffect]
}

/// State of the worker that a duty may use.
struct WorkerView: Sendable {
    /// Time by the clock that decisions use.
    let now: Moment
    /// Time by this machine's clock, trusted or not.
    let wall: WallTime
    /// Partitions whose indexes are not restored yet.
    let restoring: Int
    /// Whether the worker has not been told to stop, and has not ended.
    let isRunning: Bool
}

enum DutyEffect: Sendable {
    case log(Logger.Level, String, Logger.Metadata = [:])
    /// Counts the failure, and logs it once in ten seconds.
    case note(any StageFailure, Logger.Metadata = [:])
    /// Reports liveness to readers of the worker's health.
    case tell(Standstill?)
    /// Reads and writes rows of hosts. `HostBoard.shared` follows.
    case shareHosts
    /// Asks the store. `StoreDuty.heard` gets the reply.
    case askStore
    /// Looks up jobs that waited for the store.
    case resumeJobs
}

struct Duties: Sendable {
    var hosts: HostBoard
    var restore = RestoreProgress()
    var store = StoreDuty()
    var standstill: StandstillWatch
    var clock = ClockDuty()
    var stopped = StoppedPartitions()

    mutating func tick(_ view: WorkerView) -> [DutyEffect] {
        hosts.tick(view) + restore.tick(view) + store.tick(view) + standstill.tick(view) + clock.tick(view)
            + stopped.tick(view)
    }
}
