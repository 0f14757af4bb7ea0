internal import Canonical
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

    package mutating func forgetSlots() { change(nil) { $0?.forget() } }

    package mutating func move(_ slot: HostSlots.Slot, to partition: PartitionID, at now: Int64) {
        change(slot.host) { $0?.move(slot, to: partition, at: now) }
    }

    /// Slots that others are to have from now on, to be written, each as owner of the partition that it stood at.
    package mutating func pass(
        _ wishes: [HostSlots.Wish], at now: Int64
    ) -> [(slot: HostSlots.Slot, from: PartitionID, to: PartitionID)] {
        guard let slots, !wishes.isEmpty || !slots.isAtHome else { return [] }
        let waited = Set(seats.values.lazy.filter { $0.waits == .fetch }.map(\.host))
        let origins = origins
        change(nil) { slots in
            slots?.pass(wishes, at: now) { waited.contains($0) || (origins[$0]?.inUse.all ?? 0) > 0 }
        }
        return self.slots?.ready { origins[$0]?.inUse.all ?? 0 } ?? []
    }

    package func isPassing(_ slot: HostSlots.Slot, to partition: PartitionID) -> Bool {
        slots?.passing[slot] == partition
    }

    /// nil: of all hosts.
    private mutating func change(_ host: OriginHost?, _ body: (inout HostSlots?) -> Void) {
        body(&slots)
        guard let slots else { return }
        for host in host.map({ [$0] }) ?? Array(origins.keys) {
            let (count, known) = (slots.count(of: host), origins[host]?.slots)
            guard let known, known != count else { continue }
            origins[host]?.slots = count
            if count > known { lift(.host(host)) }
        }
    }
}
