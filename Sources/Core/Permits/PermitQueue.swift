internal import Canonical
internal import Clocks
internal import Ledger
internal import Records

/// Flights that wait for permits of one kind. Hosts take turns, and of one host's flights the oldest goes first.
///
/// Turns follow start-time fair queueing: each grant moves its host one turn on, and a host that starts to wait gets
/// the current turn. So a flood of one host is one flight ahead of others, not its whole length.
///
/// The flights of one partition and one host are a group. If a group may have no permit now, it is skipped as a whole
/// when its first flight is met. It returns when its bar is lifted. So a flight that must wait is examined once,
/// however long the queue, and does not block those behind it.
struct PermitQueue: Sendable {
    struct Ticket: Sendable, Comparable {
        /// Arrival time of the flight's oldest job.
        let since: WallTime
        let flight: FlightID
        /// Distinguishes the flight's current ticket from its outdated ones.
        let number: Int
        /// nil if the host does not matter: then age alone decides.
        let host: OriginHost?

        var group: Group { Group(partition: flight.partition, host: host) }

        static func < (a: Self, b: Self) -> Bool { (a.since, a.flight, a.number) < (b.since, b.flight, b.number) }
    }

    struct Group: Sendable, Hashable {
        let partition: PartitionID
        let host: OriginHost?
    }

    /// Reason why a group may have no permit now.
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
    /// First ticket of each group that is not skipped, by its host's turn. An entry is dropped when it is met if it is
    /// its group's first no more, and moved if its host's turn has changed.
    private var firsts = Heap<Entry>()
    /// The same tickets by age alone.
    private var eldests = Heap<Ticket>()
    private var skipped: [Bar: [Group]] = [:]
    private var barred: Set<Group> = []
    /// Number of tickets per group that no flight waits by any more.
    private var gone: [Group: Int] = [:]
    /// The current turn, and each host's next one.
    private var turn = 0
    private var turns: [OriginHost: Int] = [:]
    /// Number of turns above which hosts without waiting flights are forgotten.
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

    /// Drops entries that are first no more and were not met. Behind a valid one, such entries would pile up for as
    /// long as jobs of other groups come and go.
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

    /// The next ticket that is not skipped, by turn.
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

    /// The oldest ticket that is not skipped.
    mutating func eldest() -> Ticket? {
        while let ticket = eldests.first {
            if stands(ticket) { return ticket }
            _ = eldests.pop()
        }
        return nil
    }

    func first(of group: Group) -> Ticket? { groups[group.partition]?[group.host]?.first }

    /// Moves the host on by one turn after a grant, so that others go before its next flight.
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

    /// Notes that the flight of one of the group's tickets waits no more. The ticket is dropped when it is met, or when
    /// more than half of the group are such. A skipped group is not met, however many jobs of a blocked host come and
    /// go.
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

    /// Number of tickets and of entries in both orders, outdated ones included: the queue's size in memory.
    var count: Int { groups.values.reduce(firsts.count + eldests.count) { $1.values.reduce($0) { $0 + $1.count } } }

    mutating func skip(_ group: Group, for bar: Bar) {
        guard barred.insert(group).inserted else { return }
        skipped[bar, default: []].append(group)
    }

    /// Returns the groups that were skipped for this bar.
    mutating func lift(_ bar: Bar) {
        if skipped.isEmpty { return }
        for group in skipped.removeValue(forKey: bar) ?? [] {
            barred.remove(group)
            if let first = first(of: group) { enter(first) }
        }
    }

    /// The groups of one partition, skipped or not.
    func groups(of partition: PartitionID) -> [Group] {
        (groups[partition] ?? [:]).keys.map { Group(partition: partition, host: $0) }
    }
}
