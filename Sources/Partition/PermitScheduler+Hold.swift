package import Records

/// What one partition's log does not take holds back that partition alone.
///
/// A flight whose rows are not acknowledged waits for half a minute before it fails: with `rules.announcing` of those a
/// partition gets no permit until half of them are done. After a failure only probes go on there, one in
/// `rules.probeEvery`, until one gets through; all other partitions go on as if nothing were.
extension PermitScheduler {
    struct Hold: Sendable {
        /// When the next probe may begin.
        var next: Int64
        /// Flights that were let through to see whether the log takes rows again.
        var probes: Set<FlightID> = []
    }

    /// A flight ended since its partition's log did not take its rows. True if that holds what went on until now.
    package mutating func hold(_ flight: FlightID, at now: Int64) -> Bool {
        guard holds[flight.partition] == nil else {
            holds[flight.partition]?.probes.remove(flight)
            return false
        }
        guard !isDraining else { return false }
        holds[flight.partition] = Hold(next: now + rules.probeEvery)
        return true
    }

    /// The partition's log takes rows, or the partition is another's now. True if that ends a hold.
    @discardableResult
    package mutating func endHold(_ partition: PartitionID) -> Bool {
        guard holds.removeValue(forKey: partition) != nil else { return false }
        if isOpen(partition) { lift(.partition(partition)) }
        return true
    }

    /// The flight's rows are on their way to its partition's log.
    package mutating func announce(_ flight: FlightID) {
        guard seats[flight]?.tail == .storing else { return }
        seats[flight]?.tail = .announcing
        announcements += 1
    }

    mutating func beginTail(_ seat: inout Seat, _ flight: FlightID) {
        guard seat.tail == .none else { return }
        seat.tail = .storing
        tails[flight.partition, default: 0] += 1
        if tails[flight.partition, default: 0] >= rules.announcing { congested.insert(flight.partition) }
    }

    mutating func endTail(_ seat: inout Seat, _ flight: FlightID) {
        if seat.tail == .none { return }
        if seat.tail == .announcing { announcements -= 1 }
        seat.tail = .none
        let partition = flight.partition
        let left = tails[partition, default: 0] - 1
        tails[partition] = left == 0 ? nil : left
        // Not at the first: what is set aside and brought back for each costs more than what is granted.
        guard left <= rules.announcing / 2, congested.remove(partition) != nil, isOpen(partition) else { return }
        lift(.partition(partition))
    }

    /// Whether the partition's flights may have permits as others do.
    func isOpen(_ partition: PartitionID) -> Bool {
        isDraining || (holds[partition] == nil && !congested.contains(partition))
    }

    /// What the probes of all partitions ask for, and the next of each when it is time. They go before all others: where
    /// those never leave a permit idle, a partition would stay held.
    mutating func holdProbes(at now: Int64) -> [(kind: PermitKind, flight: FlightID)] {
        guard !holds.isEmpty, !isDraining else { return [] }
        var granted: [(kind: PermitKind, flight: FlightID)] = []
        for (partition, hold) in holds.sorted(by: { $0.key < $1.key }) {
            granted += grants(for: hold.probes)
            guard now >= hold.next, tails[partition, default: 0] < rules.announcing else { continue }
            for queue in Queue.all where free[queue.kind, default: 0] > 0 {
                guard let flight = oldest(queue, of: partition)?.flight else { continue }
                holds[partition] = Hold(next: now + rules.probeEvery, probes: hold.probes.union([flight]))
                granted.append(grant(queue.kind, flight))
                break
            }
        }
        return granted
    }

    /// The oldest flight of the partition that its host lets go.
    private mutating func oldest(_ queue: Queue, of partition: PartitionID) -> Ticket? {
        var oldest: Ticket?
        for group in queues[queue]?.groups(of: partition) ?? []
        where group.host.map({ hasRoom($0, queue.rank) }) ?? true {
            while let ticket = queues[queue]?.first(of: group) {
                guard stands(ticket) else {
                    queues[queue]?.removeFirst(of: group)
                    continue
                }
                oldest = min(oldest ?? ticket, ticket)
                break
            }
        }
        return oldest
    }
}
