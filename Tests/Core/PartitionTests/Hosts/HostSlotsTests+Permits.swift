import Canonical
import Clocks
import Hosts
import ImageModel
import Ledger
import Partition
import Permits
import Records
import TestSupport
import Testing

extension HostSlotsTests {
    @Test("Permits follow slots: what is waited for begins as soon as there is one, and none begins beyond them")
    func permits() {
        var rules = PermitRules(fetch: 64, render: 1, origins: OriginRules(concurrency: 6))
        rules.origins.start = 6
        var permits = PermitScheduler(rules)
        permits.own(Self.partitions(0..<6), of: 12)
        for number in 0..<20 {
            permits.request(.fetch, FlightID(PartitionID(0), number), lane: .fast, since: 0, host: Self.host)
        }
        #expect(permits.grants(at: 0).isEmpty)
        permits.knowSlots()
        #expect(permits.grants(at: 0).count == 3)
        permits.own(Self.partitions(0..<12), of: 12)
        #expect(permits.grants(at: 0).count == 3)
        permits.own(Self.partitions(0..<2), of: 12)
        permits.forget(FlightID(PartitionID(0), 0))
        #expect(permits.grants(at: 0).isEmpty)
    }

    @Test("A host that is waited for, and was never asked, loses its slot and gets it again")
    func waited() {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 1, origins: OriginRules(concurrency: 1)))
        let slot = HostSlots.Slot(Self.host, 0)
        let defaultOwner = HostSlots(partitions: 2, permits.rules.origins).defaultOwner(of: slot)
        let other = PartitionID(1 - defaultOwner.number)
        permits.own([defaultOwner], of: 2)
        permits.knowSlots()
        let busy = OriginHost(of: "http://busy.example/")
        permits.move(HostSlots.Slot(busy, 0), to: defaultOwner, at: 0)
        permits.request(.fetch, FlightID(defaultOwner, 1), lane: .fast, since: 0, host: busy)
        #expect(permits.grants(at: 0).map(\.flight.number) == [1])
        permits.request(.fetch, FlightID(defaultOwner, 2), lane: .fast, since: 0, host: Self.host)
        permits.move(slot, to: other, at: 0)
        permits.forget(FlightID(defaultOwner, 1))
        #expect(permits.grants(at: 0).isEmpty && permits.origins[Self.host]?.slots == 0)
        permits.move(slot, to: defaultOwner, at: 0)
        #expect(permits.grants(at: 0).map(\.flight.number) == [2])
    }

    @Test("A host that is left alone is tried again by those who have a slot of it")
    func probes() {
        var permits = PermitScheduler(
            PermitRules(fetch: 8, render: 1, origins: OriginRules(concurrency: 1, failures: 1)))
        let defaultOwner = HostSlots(partitions: 2, permits.rules.origins).defaultOwner(
            of: HostSlots.Slot(Self.host, 0))
        permits.own([PartitionID(1 - defaultOwner.number)], of: 2)
        permits.knowSlots()
        permits.set(Self.host, blockedFor: 10, because: "x", at: Moment(wall: 0, monotonic: 0))
        permits.request(.fetch, FlightID(PartitionID(0), 1), lane: .fast, since: 0, host: Self.host)
        #expect(permits.grants(at: 20).isEmpty)
        permits.move(HostSlots.Slot(Self.host, 0), to: PartitionID(1 - defaultOwner.number), at: 20)
        #expect(permits.grants(at: 20).count == 1)
    }
}
