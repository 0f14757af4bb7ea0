internal import Clocks
internal import Ports
internal import Telemetry

/// Rows name files of one store: while another store is there, or none, jobs wait for it.
struct StoreDuty: Duty {
    /// Why the store is not the one that rows are bound to.
    private(set) var absence: StoreFailure?
    private var askedAt = Instant.distantPast

    /// A wanted file is gone, and this is why the store may be.
    mutating func missed(_ reason: StoreFailure?) { if absence == nil { absence = reason } }

    /// Asks once a second for a store that is away.
    mutating func tick(_ view: WorkerView) -> [DutyEffect] {
        guard absence != nil, view.now.monotonic - askedAt >= .seconds(1) else { return [] }
        askedAt = view.now.monotonic
        return [.askStore]
    }

    /// - Parameter reason: why the store is away still; nil: it is there.
    mutating func heard(_ reason: StoreFailure?) -> [DutyEffect] {
        defer { absence = reason }
        if reason != nil { return absence.map { [.note($0)] } ?? [] }
        return [.log(.info, "The store is available again: its waiting jobs continue."), .resumeJobs]
    }
}
