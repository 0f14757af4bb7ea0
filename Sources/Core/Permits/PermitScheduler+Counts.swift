internal import Hosts
package import ImageModel
package import Ledger

extension PermitScheduler {
    package func checkInvariants() {
        for kind in [PermitKind.fetch, .render] {
            invariant(
                running(kind) == entries.values.count { $0.holds.contains(kind) }, "permits are counted wrong")
        }
        invariant(late.all == entries.values.count(where: \.isLate), "late fetches are counted wrong")
        invariant(announcements == entries.values.count { $0.tail == .announcing }, "announcements are counted wrong")
        invariant(
            fetches.keys.allSatisfy { entries[$0]?.holds.contains(.fetch) == true }, "a host is asked without a permit")
        for origin in origins.values { origin.checkInvariants() }
        slots?.checkInvariants()
    }

    /// Whether no flight holds a permit, waits for one, or is between two.
    package var isIdle: Bool { entries.isEmpty }

    /// Flights of a lane that wait for this permit.
    package func waiting(_ kind: PermitKind, on lane: Lane) -> Int {
        entries.values.count { $0.waits == kind && $0.lane == lane }
    }

    /// Flights of a lane that have had a permit and wait for none.
    package func inProgress(on lane: Lane) -> Int {
        entries.values.count { $0.isUnderWay && $0.waits == nil && $0.lane == lane }
    }

    /// Number of tickets and of their entries in the queues' orders: the queues' size in memory.
    package var ticketsHeld: Int { queues.reduce(0) { $0 + $1.count } }
}
