package import Clocks
package import Ledger
package import Records

/// Probes while something outside the jobs fails. A fault of this machine stops all but probes; a fault of a
/// partition's log stops that partition alone.
///
/// A flight whose rows are not acknowledged waits for half a minute before it fails. With `rules.announcing` such
/// flights, a partition gets no permit until half of them are done.
extension PermitScheduler {
    /// A fault outside the jobs that stops flights until one succeeds.
    package enum Obstacle: Sendable, Equatable {
        case machine
        case log
    }

    /// Applies a flight's change. Returns notices for operators about breakers that opened or closed.
    package mutating func apply(_ change: PermitChange, at now: Moment) -> [PermitNotice] {
        clock = now.monotonic
        switch change {
        case .request(let kind, let flight, let lane, let since, let host, let behind):
            request(kind, flight, lane: lane, since: since, host: host, behind: behind)
        case .isolate(let request, let patience): isolate(request, due: now.monotonic + patience)
        case .release(let kind, let flight): release(kind, flight)
        case .move(let flight, let lane, let since): move(flight, to: lane, since: since)
        case .fail(let flight, let obstacle): return fail(flight, by: obstacle, at: now) ? [.opened(obstacle)] : []
        case .pass(let flight): return pass(flight, at: now).map { .closed($0) }
        case .hear(let response, let flight, let code, let failingSince):
            return hear(response, of: flight, because: code, failingSince: failingSince, at: now)
        case .forget(let flight): forget(flight)
        }
        return []
    }

    /// Handles a flight that ended by the obstacle's fault, not by its job's. Returns whether that opens a breaker.
    package mutating func fail(_ flight: FlightID, by obstacle: Obstacle, at now: Moment) -> Bool {
        let next = now.monotonic + rules.probeEvery
        switch obstacle {
        case .machine: return machine.open(for: flight, until: next)
        case .log:
            if isDraining, logs[flight.partition] == nil { return false }
            return logs[flight.partition, default: CircuitBreaker()].open(for: flight, until: next)
        }
    }

    /// Handles a flight whose results are stored and announced. Returns the obstacles that this removes.
    package mutating func pass(_ flight: FlightID, at now: Moment) -> [Obstacle] {
        guard var entry = entries[flight] else { return [] }
        lastPass = now.wall
        endTail(&entry, flight)
        entries[flight] = entry
        return (machine.close() ? [.machine] : []) + (closeLog(of: flight.partition) ? [.log] : [])
    }

    /// Closes the breaker of a partition whose log accepts rows, or which this worker does not own any more. Returns
    /// whether it was open.
    @discardableResult
    package mutating func closeLog(of partition: PartitionID) -> Bool {
        guard logs.removeValue(forKey: partition) != nil else { return false }
        if isOpen(partition) { lift(.partition(partition)) }
        return true
    }

    mutating func endProbe(_ flight: FlightID) {
        machine.forget(flight)
        logs[flight.partition]?.forget(flight)
    }

    /// Notes that the flight's rows are being appended to its partition's log.
    package mutating func announce(_ flight: FlightID) {
        guard entries[flight]?.tail == .storing else { return }
        entries[flight]?.tail = .announcing
        announcements += 1
    }

    /// Whether the flight waits for its partition's log alone.
    package func isAnnouncing(_ flight: FlightID) -> Bool { entries[flight]?.tail == .announcing }

    mutating func beginTail(_ entry: inout Entry, _ flight: FlightID) {
        guard entry.tail == .none else { return }
        entry.tail = .storing
        tails[flight.partition, default: 0] += 1
        if tails[flight.partition, default: 0] >= rules.announcing { congested.insert(flight.partition) }
    }

    mutating func endTail(_ entry: inout Entry, _ flight: FlightID) {
        if entry.tail == .none { return }
        if entry.tail == .announcing { announcements -= 1 }
        entry.tail = .none
        let partition = flight.partition
        let left = tails[partition, default: 0] - 1
        tails[partition] = left == 0 ? nil : left
        // Not at the first: skipping groups and returning them for each costs more than the grants.
        guard left <= rules.announcing / 2, congested.remove(partition) != nil, isOpen(partition) else { return }
        lift(.partition(partition))
    }

    /// Whether the partition's flights may have permits as usual.
    func isOpen(_ partition: PartitionID) -> Bool {
        isDraining || (logs[partition] == nil && !congested.contains(partition))
    }

    /// Permits for this machine's probes, and for the next probe when it is due. Flights that need no more fetch go
    /// first, because their sources wait in memory. If there are no others, partitions whose log is unavailable probe
    /// theirs.
    mutating func machineProbes(at now: Moment) -> [Grant] {
        let granted = grants(for: machine.probes)
        guard machine.mayProbe(at: now.monotonic) else { return granted }
        for queue in Queue.all where mayProbe(queue) {
            guard let flight = first(queue)?.flight else { continue }
            machine.probe(flight, next: now.monotonic + rules.probeEvery)
            return granted + [grant(queue.kind, flight)]
        }
        return granted + logProbes(at: now)
    }

    /// Permits for the probes of all partitions, and for each next probe when it is due. They go before all other
    /// flights. Otherwise a partition would never be retried if other flights never left a permit idle.
    mutating func logProbes(at now: Moment) -> [Grant] {
        guard !logs.isEmpty, !isDraining else { return [] }
        var granted: [Grant] = []
        for (partition, breaker) in logs.sorted(by: { $0.key < $1.key }) {
            granted += grants(for: breaker.probes)
            guard breaker.mayProbe(at: now.monotonic), tails[partition, default: 0] < rules.announcing else { continue }
            for queue in Queue.all where mayProbe(queue) {
                guard let flight = oldest(queue, of: partition)?.flight else { continue }
                logs[partition]?.probe(flight, next: now.monotonic + rules.probeEvery)
                granted.append(grant(queue.kind, flight))
                break
            }
        }
        return granted
    }

    /// Renders may exceed `rules.slow` by one, because a probe must not wait for renders that hang.
    private func mayProbe(_ queue: Queue) -> Bool {
        free[queue.kind] > 0 && (queue.kind == .render || mayBegin(.fetch, isSlow: queue.rank != .fast))
    }

    /// Permits for probes that are in progress.
    mutating func grants(for probes: [FlightID]) -> [Grant] {
        var granted: [Grant] = []
        for flight in probes {
            guard let entry = entries[flight], let kind = entry.waits, free[kind] > 0 else { continue }
            let mayBegin =
                kind == .render || (hasRoom(entry.host, entry.rank) && mayBegin(kind, isSlow: entry.rank != .fast))
            if mayBegin { granted.append(grant(kind, flight)) }
        }
        return granted
    }

    /// Oldest flight of the partition whose host may be asked.
    private mutating func oldest(_ queue: Queue, of partition: PartitionID) -> Ticket? {
        var oldest: Ticket?
        for group in self[queue].groups(of: partition)
        where group.host.map({ hasRoom($0, queue.rank) }) ?? true {
            while let ticket = self[queue].first(of: group) {
                guard stands(ticket) else {
                    self[queue].removeFirst(of: group)
                    continue
                }
                oldest = min(oldest ?? ticket, ticket)
                break
            }
        }
        return oldest
    }
}
