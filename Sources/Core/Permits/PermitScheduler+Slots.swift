package import Canonical
package import Clocks
package import Hosts
internal import ImageModel
internal import Ledger
package import Records

/// Slots of hosts: of each host's limit a worker has the slots at its own partitions (`HostSlots`).
extension PermitScheduler {
    /// Sets this worker's partitions, of `count` in all.
    package mutating func own(_ partitions: Set<PartitionID>, of count: Int) {
        if slots == nil { slots = HostSlots(partitions: count, rules.origins) }
        change(nil) { $0?.own(partitions) }
    }

    /// Notes that all slot rows were read that the log had when the last partition came.
    package mutating func knowSlots() {
        if slots?.isKnown == false { change(nil) { $0?.know() } }
    }

    /// Limit that holds a host's flights back now. Before this worker has read which slots it has, its missing slots do
    /// not count as the host's limit.
    package func holding(_ host: OriginHost, isSlow: Bool, at now: Instant) -> HostHold? {
        let hold = origins[host]?.holding(isSlow: isSlow, at: now)
        return hold == .limit && !knowsSlots ? nil : hold
    }

    package var knowsSlots: Bool { slots?.isKnown != false }

    package mutating func forgetSlots() { change(nil) { $0?.forget() } }

    package mutating func move(_ slot: HostSlots.Slot, to partition: PartitionID, at now: Instant) {
        change(slot.host) { $0?.move(slot, to: partition, at: now) }
    }

    /// Slot requests for hosts of which this worker has no slot although flights wait for them.
    package func slotRequests(at now: Moment) -> [OriginHost: HostSlots.Request] {
        var slotRequests: [OriginHost: HostSlots.Request] = [:]
        for (flight, entry) in entries where entry.waits == .fetch {
            guard let origin = origins[entry.host], origin.slots == 0, !origin.isClosed(at: now.monotonic) else {
                continue
            }
            let known = slotRequests[entry.host]
            slotRequests[entry.host] = HostSlots.Request(
                entry.host, for: min(known?.partition ?? flight.partition, flight.partition),
                since: min(known?.since ?? now.monotonic, now.monotonic - waited(entry, at: now)))
        }
        return slotRequests
    }

    /// Slots to pass to other workers, for rows that the owner of the old partition writes.
    package mutating func pass(
        _ slotRequests: [HostSlots.Request], at now: Moment
    ) -> [(slot: HostSlots.Slot, from: PartitionID, to: PartitionID)] {
        guard let slots, !slotRequests.isEmpty || !slots.isAtDefaultOwner else { return [] }
        /// Hosts that flights wait for, and whether urgent flights are among them.
        var waiting: [OriginHost: Bool] = [:]
        for entry in entries.values where entry.waits == .fetch {
            let isUrgent = entry.lane.isUrgent || waited(entry, at: now) >= rules.slowWait
            waiting[entry.host] = waiting[entry.host] == true || isUrgent
        }
        let inUse = origins.mapValues(\.inUse)
        change(nil) { slots in
            slots?.pass(slotRequests, at: now.monotonic) { host in
                waiting[host] == true || inUse[host].map { $0.all > $0.slow } ?? false
            } uses: { host in
                waiting[host] != nil || inUse[host].map { $0.all > 0 } ?? false
            }
        }
        return self.slots?.ready { inUse[$0]?.all ?? 0 } ?? []
    }

    /// How long a flight has waited for its host: since its oldest job came, or since this worker last started a fetch
    /// there. So workers with old jobs take turns.
    private func waited(_ entry: Entry, at now: Moment) -> Duration {
        let begunAt = origins[entry.host]?.begunAt ?? .distantPast
        return max(.zero, min(now.wall - entry.since, now.monotonic - begunAt))
    }

    package func isAtDefaultOwner(_ slot: HostSlots.Slot, at partition: PartitionID) -> Bool {
        slots?.isAtDefaultOwner(slot, at: partition) ?? false
    }

    package func isPassing(_ slot: HostSlots.Slot, to partition: PartitionID) -> Bool {
        slots?.passing[slot] == partition
    }

    /// nil: all hosts.
    private mutating func change(_ host: OriginHost?, _ body: (inout HostSlots?) -> Void) {
        body(&slots)
        guard let slots else { return }
        for host in host.map({ [$0] }) ?? Array(origins.keys) {
            guard let known = origins[host] else { continue }
            let count = slots.count(of: host)
            guard known.slots != count else { continue }
            origins[host]?.own(slots: count)
            if count > known.slots { lift(.host(host)) }
        }
    }
}
