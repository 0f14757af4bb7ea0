internal import Canonical
internal import Records

/// Flights that wait for permits of one kind, by age.
///
/// Those of one partition and one host are a group. A group that may have no permit now is set aside as a whole when its
/// first flight is met, and comes back when what bars it is lifted: so a flight that must wait is looked at once, however
/// long the queue, and those behind it go on.
struct PermitQueue: Sendable {
    struct Ticket: Sendable, Comparable {
        /// When the flight's oldest job came, milliseconds.
        let since: Int64
        let flight: FlightID
        /// Tells the flight's place in a queue from those that it left behind.
        let number: Int
        /// nil where it does not matter.
        let host: OriginHost?

        var group: Group { Group(partition: flight.partition, host: host) }

        static func < (a: Self, b: Self) -> Bool { (a.since, a.flight, a.number) < (b.since, b.flight, b.number) }
    }

    struct Group: Sendable, Hashable {
        let partition: PartitionID
        let host: OriginHost?
    }

    /// Why a group may have no permit now.
    enum Bar: Sendable, Hashable {
        case host(OriginHost)
        case partition(PartitionID)
    }

    private var groups: [PartitionID: [OriginHost?: Heap<Ticket>]] = [:]
    /// The first ticket of each group that is not aside. One that is its group's first no more is dropped when it is met.
    private var firsts = Heap<Ticket>()
    private var aside: [Bar: [Group]] = [:]
    private var barred: Set<Group> = []

    mutating func push(_ ticket: Ticket) {
        let group = ticket.group
        groups[group.partition, default: [:]][group.host, default: Heap()].push(ticket)
        if !barred.contains(group), first(of: group)?.number == ticket.number { firsts.push(ticket) }
    }

    /// The oldest of all that are not aside.
    mutating func first() -> Ticket? {
        while let ticket = firsts.first {
            if !barred.contains(ticket.group), first(of: ticket.group)?.number == ticket.number { return ticket }
            _ = firsts.pop()
        }
        return nil
    }

    func first(of group: Group) -> Ticket? { groups[group.partition]?[group.host]?.first }

    /// Drops the first ticket of a group.
    mutating func removeFirst(of group: Group) {
        _ = groups[group.partition]?[group.host]?.pop()
        guard let next = first(of: group) else {
            groups[group.partition]?[group.host] = nil
            if groups[group.partition]?.isEmpty == true { groups[group.partition] = nil }
            return
        }
        if !barred.contains(group) { firsts.push(next) }
    }

    mutating func setAside(_ group: Group, for bar: Bar) {
        guard barred.insert(group).inserted else { return }
        aside[bar, default: []].append(group)
    }

    /// What was set aside for this comes back.
    mutating func lift(_ bar: Bar) {
        for group in aside.removeValue(forKey: bar) ?? [] {
            barred.remove(group)
            if let first = first(of: group) { firsts.push(first) }
        }
    }

    /// The groups of one partition, aside or not.
    func groups(of partition: PartitionID) -> [Group] {
        (groups[partition] ?? [:]).keys.map { Group(partition: partition, host: $0) }
    }
}
