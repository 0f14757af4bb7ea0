internal import Clocks
internal import Failures
internal import Telemetry

/// A standing task of the worker: a value with private state, asked with each tick what is to be done.
///
/// It never awaits, reads a clock, or touches a file. `Worker.perform` performs what it returns. A new one is a property
/// and a line of `Duties`.
protocol Duty: Sendable {
    mutating func tick(_ view: WorkerView) -> [DutyEffect]
}

/// What a duty may know of the worker.
struct WorkerView: Sendable {
    /// By the clock that decisions go by.
    let now: Moment
    /// By this machine's clock, believed or not.
    let wall: WallTime
    /// Partitions whose indexes are not restored yet.
    let restoring: Int
    /// Told neither to stop nor ended.
    let isRunning: Bool
}

enum DutyEffect: Sendable {
    case log(Logger.Level, String, Logger.Metadata = [:])
    /// Counted, and logged once in ten seconds.
    case note(any StageFailure)
    /// Those who ask whether the worker lives are told.
    case tell(Standstill?)
    /// Rows of hosts are read and written; `HostBoard.shared` follows.
    case shareHosts
    /// `StoreDuty.heard` gets the answer.
    case askStore
    /// Jobs that waited for the store are looked up.
    case resumeJobs
}

struct Duties: Sendable {
    var hosts: HostBoard
    var restore = RestoreProgress()
    var store = StoreDuty()
    var standstill: StandstillWatch
    var clock = ClockDuty()

    mutating func tick(_ view: WorkerView) -> [DutyEffect] {
        hosts.tick(view) + restore.tick(view) + store.tick(view) + standstill.tick(view) + clock.tick(view)
    }
}
