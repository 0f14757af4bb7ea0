internal import Clocks
internal import Ports
internal import Telemetry

/// Duty that waits for the right store. Rows name files of one store: while another store is mounted, or none, jobs
/// wait.
struct StoreDuty: Duty {
    /// Reason why the store is not the one that rows are bound to.
    private(set) var absence: StoreFailure?
    private var askedAt = Instant.distantPast

    /// Notes the reason why the store may be unavailable, because a wanted file is missing.
    mutating func missed(_ reason: StoreFailure?) { if absence == nil { absence = reason } }

    /// Checks a store that is unavailable once a second.
    mutating func tick(_ view: WorkerView) -> [DutyEffect] {
        guard absence != nil, view.now.monotonic - askedAt >= .seconds(1) else { return [] }
        askedAt = view.now.monotonic
        return [.askStore]
    }

    /// - Parameter reason: why the store is still unavailable; nil: it is available.
    mutating func heard(_ reason: StoreFailure?) -> [DutyEffect] {
        defer { absence = reason }
        if reason != nil { return absence.map { [.note($0)] } ?? [] }
        return [.log(.info, "The store is available again: its waiting jobs continue."), .resumeJobs]
    }
}
