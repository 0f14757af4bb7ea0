package import ImageModel

extension PermitScheduler {
    /// Whether counts agree with what seats hold: for assertions.
    package var isConsistent: Bool {
        [PermitKind.fetch, .render].allSatisfy { kind in
            running(kind) == seats.values.count { $0.holds.contains(kind) }
        } && late.all == seats.values.count(where: \.isLate)
            && announcements == seats.values.count { $0.tail == .announcing }
            && fetches.keys.allSatisfy { seats[$0]?.holds.contains(.fetch) == true }
    }

    /// Flights of a lane that wait for this permit.
    package func waiting(_ kind: PermitKind, on lane: Lane) -> Int {
        seats.values.count { $0.waits == kind && $0.lane == lane }
    }

    /// Flights of a lane that have had a permit and wait for none.
    package func inProgress(on lane: Lane) -> Int {
        seats.values.count { $0.isUnderWay && $0.waits == nil && $0.lane == lane }
    }

    /// What queues hold in memory: tickets, and their entries in the queues' orders.
    package var ticketsHeld: Int { queues.reduce(0) { $0 + $1.count } }
}
