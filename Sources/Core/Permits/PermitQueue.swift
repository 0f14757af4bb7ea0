internal import Canonical
internal import Clocks
internal import Ledger
internal import Records

/// Flights that wait for permits of one kind: hosts take turns, and of one host's the oldest goes first.
///
/// Turns are those of start-time fair queueing: each grant moves its host one turn on, and a host that comes to wait begins
/// with the turn that it is. So a flood of one host is one flight ahead of others, not all of it.
///
/// Those of one partition and one host are a group. A group that may have no permit now is set aside as a whole when its
/// first flight is met, and comes back when what bars it is lifted: so a flight that must wait is looked at once, however
/// long the queue, and those behind it go on.
struct PermitQueue: Sendable {
    struct Ticket: Sendable, Comparable {
        /// When the flight's oldest job came.
        let since: WallTime
        let flight: FlightID
        /// Tells the flight's place in a queue from those that it left behind.
        let number: Int
        /// nil where it does not matter: then age alone does.
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

    private struct Entry: Sendable, Comparable {
        let turn: Int
        let ticket: Ticket
        static func < (a: Self, b: Self) -> Bool { a.turn == b.turn ? a.ticket < b.ticket : a.turn < b.turn }
    }

    private var groups: [PartitionID: [OriginHost?: Heap<Ticket>]] = [:]
    /// The first ticket of each group that is not aside, by the turn of its host. One that is its group's first no more, or
    /// whose host has moved on, is dropped or moved when it is met.
    private var firsts = Heap<Entry>()
    /// The same by age alone.
    private var eldests = Heap<Ticket>()
    private var aside: [Bar: [Group]] = [:]
    private var barred: Set<Group> = []
    /// Tickets of groups that nobody waits by any more.
    private var gone: [Group: Int] = [:]
    /// The turn that it is, and the next one of hosts.
    private var turn = 0
    private var turns: [OriginHost: Int] = [:]
    /// Hosts that wait for nothing are forgotten beyond so many.
    private static let keptTurns = 1_024
    private var sweepAt = 256

    mutating func push(_ ticket: Ticket) {
        let group = ticket.group
        let isNew = groups[group.partition]?[group.host] == nil
        groups[group.partition, default: [:]][group.host, default: Heap()].push(ticket)
        if isNew, let host = ticket.host { turns[host] = max(turns[host] ?? 0, turn) }
        if !barred.contains(group), first(of: group)?.number == ticket.number { enter(ticket) }
    }

    private func turn(of ticket: Ticket) -> Int { ticket.host.flatMap { turns[$0] } ?? 0 }

    private mutating func enter(_ ticket: Ticket) {
        firsts.push(Entry(turn: turn(of: ticket), ticket: ticket))
        eldests.push(ticket)
        if max(firsts.count, eldests.count) > sweepAt { sweep() }
    }

    /// Lets go of what is first no more and was not met: behind one that stands, such would pile up for as long as jobs of
    /// other groups come and go.
    private mutating func sweep() {
        (firsts, eldests) = (Heap(), Heap())
        for (partition, hosts) in groups {
            for (host, tickets) in hosts where !barred.contains(Group(partition: partition, host: host)) {
                guard let first = tickets.first else { continue }
                firsts.push(Entry(turn: turn(of: first), ticket: first))
                eldests.push(first)
            }
        }
        sweepAt = max(256, 2 * eldests.count)
    }

    private func stands(_ ticket: Ticket) -> Bool {
        !barred.contains(ticket.group) && first(of: ticket.group)?.number == ticket.number
    }

    /// The next of all that are not aside.
    mutating func first() -> Ticket? {
        while let entry = firsts.first {
            if stands(entry.ticket) {
                let turn = turn(of: entry.ticket)
                if turn <= entry.turn { return entry.ticket }
                _ = firsts.pop()
                firsts.push(Entry(turn: turn, ticket: entry.ticket))
            } else {
                _ = firsts.pop()
            }
        }
        return nil
    }

    /// The oldest of all that are not aside.
    mutating func eldest() -> Ticket? {
        while let ticket = eldests.first {
            if stands(ticket) { return ticket }
            _ = eldests.pop()
        }
        return nil
    }

    func first(of group: Group) -> Ticket? { groups[group.partition]?[group.host]?.first }

    /// A flight of the host was granted: others go before its next one.
    mutating func moveOn(_ host: OriginHost) {
        let own = turns[host] ?? turn
        turn = max(turn, own)
        turns[host] = own + 1
        guard turns.count > Self.keptTurns else { return }
        let waiting = Set(groups.values.flatMap(\.keys))
        turns = turns.filter { $0.value > turn || waiting.contains($0.key) }
    }

    /// Drops the first ticket of a group.
    mutating func removeFirst(of group: Group) {
        _ = groups[group.partition]?[group.host]?.pop()
        enterFirst(of: group)
    }

    /// Who waited by a ticket of the group waits no more. It is dropped when it is met, or once half of its group are such:
    /// what is aside is not met, however many jobs of a host that is left alone come and go.
    mutating func leave(_ group: Group, stands: (Ticket) -> Bool) {
        guard let tickets = groups[group.partition]?[group.host] else { return }
        let count = gone[group, default: 0] + 1
        gone[group] = count
        guard count * 2 > tickets.count else { return }
        gone[group] = nil
        let left = tickets.filter(stands)
        groups[group.partition]?[group.host] = left
        if left.first?.number != tickets.first?.number { enterFirst(of: group) }
    }

    private mutating func enterFirst(of group: Group) {
        guard let next = first(of: group) else {
            groups[group.partition]?[group.host] = nil
            if groups[group.partition]?.isEmpty == true { groups[group.partition] = nil }
            gone[group] = nil
            return
        }
        if !barred.contains(group) { enter(next) }
    }

    /// What it holds in memory, what nobody waits by among it: tickets, and both orders' entries.
    var count: Int { groups.values.reduce(firsts.count + eldests.count) { $1.values.reduce($0) { $0 + $1.count } } }

    mutating func setAside(_ group: Group, for bar: Bar) {
        guard barred.insert(group).inserted else { return }
        aside[bar, default: []].append(group)
    }

    /// What was set aside for this comes back.
    mutating func lift(_ bar: Bar) {
        if aside.isEmpty { return }
        for group in aside.removeValue(forKey: bar) ?? [] {
            barred.remove(group)
            if let first = first(of: group) { enter(first) }
        }
    }

    /// The groups of one partition, aside or not.
    func groups(of partition: PartitionID) -> [Group] {
        (groups[partition] ?? [:]).keys.map { Group(partition: partition, host: $0) }
    }
}
