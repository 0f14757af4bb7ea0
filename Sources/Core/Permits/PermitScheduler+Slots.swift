package import Canonical
package import Clocks
package import Hosts
internal import ImageModel
internal import Ledger
package import Records

/// Of each host's ceiling a worker has the slots that stand at its partitions (`HostSlots`).
extension PermitScheduler {
    /// These partitions of all are this worker's now.
    package mutating func own(_ partitions: Set<PartitionID>, of count: Int) {
        if slots == nil { slots = HostSlots(partitions: count, rules.origins) }
        change(nil) { $0?.own(partitions) }
    }

    /// All rows of slots that stood in the log when the last partition came were heard.
    package mutating func knowSlots() {
        if slots?.isKnown == false { change(nil) { $0?.know() } }
    }

    /// What holds a host's flights back now. Which slots this worker has it must hear first: that is no limit of the host's.
    package func holding(_ host: OriginHost, isSlow: Bool, at now: Instant) -> HostHold? {
        let hold = origins[host]?.holding(isSlow: isSlow, at: now)
        return hold == .limit && !knowsSlots ? nil : hold
    }

    package var knowsSlots: Bool { slots?.isKnown != false }

    package mutating func forgetSlots() { change(nil) { $0?.forget() } }

    package mutating func move(_ slot: HostSlots.Slot, to partition: PartitionID, at now: Instant) {
        change(slot.host) { $0?.move(slot, to: partition, at: now) }
    }

    /// Another worker uses slow slots of the host.
    package mutating func hearSlow(_ host: OriginHost, at now: Instant) { change(host) { $0?.hearSlow(host, at: now) } }

    /// By host, of which kinds of slots this worker has none, though flights wait for them.
    package func wants(at now: Instant) -> [OriginHost: HostSlots.Want] {
        var wants: [OriginHost: HostSlots.Want] = [:]
        for (flight, seat) in seats where seat.waits == .fetch {
            guard let origin = origins[seat.host] else { continue }
            let needsSlow = !seat.lane.isUrgent && origin.hasSlowSlots
            guard origin.slots == 0 || (needsSlow && origin.slowSlots == 0), !origin.isClosed(at: now) else { continue }
            var want = wants[seat.host] ?? HostSlots.Want()
            if origin.slots == 0 { want.fetch = min(want.fetch ?? flight.partition, flight.partition) }
            if needsSlow {
                if origin.slowSlots == 0 { want.slow = min(want.slow ?? flight.partition, flight.partition) }
                want.slowSince = min(want.slowSince ?? now, max(seat.askedAt, origin.slowBegunAt))
            }
            wants[seat.host] = want
        }
        return wants
    }

    /// Slots that others are to have from now on, to be written, each as owner of the partition that it stood at.
    package mutating func pass(
        _ wishes: [HostSlots.Wish], at now: Instant
    ) -> [(slot: HostSlots.Slot, from: PartitionID, to: PartitionID)] {
        borrow(wishes, at: now)
        guard let slots, !wishes.isEmpty || !slots.isAtHome else { return [] }
        /// Of flights that wait for the host, whether fast and slow ones are among them.
        var waited: [OriginHost: (fast: Bool, slow: Bool)] = [:]
        for seat in seats.values where seat.waits == .fetch {
            let known = waited[seat.host] ?? (false, false)
            waited[seat.host] = (known.fast || seat.lane.isUrgent, known.slow || !seat.lane.isUrgent)
        }
        let origins = origins
        func usesFast(_ host: OriginHost) -> Bool {
            waited[host]?.fast == true || origins[host].map { $0.inUse.all > $0.inUse.slow } ?? false
        }
        func usesSlow(_ host: OriginHost) -> Bool {
            waited[host]?.slow == true || origins[host].map { $0.inUse.slow > 0 } ?? false
        }
        change(nil) { slots in
            slots?.pass(wishes, at: now, slowBegan: { origins[$0]?.slowBegunAt ?? .distantPast }, usesFast: usesFast) {
                usesSlow($0) || (!$1 && usesFast($0))
            }
        }
        return self.slots?.ready { ($1 ? origins[$0]?.inUse.slow : origins[$0]?.inUse.all) ?? 0 } ?? []
    }

    package func borrows(_ host: OriginHost) -> Bool { slots?.borrows(host) == true }

    /// What others write of slots cannot be read now.
    package mutating func unheard(at now: Instant) { slots?.unheard(at: now) }

    private mutating func borrow(_ wishes: [HostSlots.Wish], at now: Instant) {
        var lacking: [OriginHost: HostSlots.Wish] = [:]
        for (host, want) in wants(at: now) {
            guard let partition = want.slow, let since = want.slowSince else { continue }
            lacking[host] = HostSlots.Wish(host, for: partition, isSlow: true, since: since)
        }
        if slots?.borrow(lacking, wishes, at: now) == true { change(nil) { _ in } }
    }

    /// Whether only its row places the slot there.
    package func isAtHome(_ slot: HostSlots.Slot, at partition: PartitionID) -> Bool {
        guard let slots else { return false }
        return slots.home(of: slot) == partition && slots.passing[slot] == nil
    }

    package func isPassing(_ slot: HostSlots.Slot, to partition: PartitionID) -> Bool {
        slots?.passing[slot] == partition
    }

    /// nil: of all hosts.
    private mutating func change(_ host: OriginHost?, _ body: (inout HostSlots?) -> Void) {
        body(&slots)
        guard let slots else { return }
        for host in host.map({ [$0] }) ?? Array(origins.keys) {
            guard let known = origins[host] else { continue }
            let (count, slow) = (slots.count(of: host), slots.count(of: host, isSlow: true))
            guard (known.slots, known.slowSlots) != (count, slow) else { continue }
            origins[host]?.own(slots: count, slow: slow)
            if count > known.slots || slow > known.slowSlots { lift(.host(host)) }
        }
    }
}
