package import Canonical
package import Clocks
internal import Hosts
internal import ImageModel
package import Ledger
package import Records

/// Limits and circuit breakers of hosts. Jobs of a blocked host are parked, except a probe.
extension PermitScheduler {
    /// Minimum wait of the flights of a host that may not be asked, and the reason.
    package struct Hold: Sendable, Equatable {
        package let host: OriginHost
        package let wait: Duration
        package let code: String

        package init(host: OriginHost, wait: Duration, code: String) {
            (self.host, self.wait, self.code) = (host, wait, code)
        }
    }

    /// Takes the flights that wait for a host which may not be asked now. They must wait elsewhere.
    package mutating func takeHeld(at now: Moment) -> [(flight: FlightID, hold: Hold)] {
        guard !closed.isEmpty, !isDraining else { return [] }
        var held: [(FlightID, Hold)] = []
        for (host, flights) in closed {
            guard let origin = origins[host], origin.phase != .open else {
                closed[host] = nil
                continue
            }
            // One of them starts as a probe as soon as there is a permit.
            guard origin.isClosed(at: now.monotonic) else { continue }
            let hold = Hold(host: host, wait: origin.wait(at: now), code: origin.trouble?.code ?? "")
            let waiting = flights.filter { waits($0, for: host) }
            held += waiting.map { ($0, hold) }
            // Flights in progress may stay until the host may be asked.
            closed[host] = waiting.isEmpty ? nil : waiting
        }
        return held
    }

    private func waits(_ flight: FlightID, for host: OriginHost) -> Bool {
        entries[flight].map { $0.waits == .fetch && ($0.host == host || $0.behind == host) } ?? false
    }

    /// Number of the host's jobs that are useful in memory. A host that is due for a probe needs one.
    package func use(of host: OriginHost, at now: Moment) -> Int {
        guard let origin = origins[host], origin.phase != .open else { return .max }
        return origin.isClosed(at: now.monotonic) ? 0 : 1
    }

    /// Whether the host is asked as usual. Unknown hosts are.
    package func isOpen(_ host: OriginHost) -> Bool { origins[host]?.phase ?? .open == .open }

    /// Whether one more flight may be fetched from the host.
    package func hasRoom(_ host: OriginHost, isSlow: Bool) -> Bool {
        let isUnknown = origins[host] == nil && slots == nil
        return (isUnknown || (origins[host] ?? newOrigin(host)).mayBegin(isSlow: isSlow, at: clock)) && !yields(host)
    }

    func hasRoom(_ host: OriginHost, _ rank: Rank) -> Bool { hasRoom(host, isSlow: rank != .fast) }

    /// Applies the response of the flight's host. Returns notices for operators about hosts that were blocked or
    /// respond again.
    mutating func hear(
        _ response: OriginResponse, of flight: FlightID, because code: String, failingSince: WallTime?, at now: Moment
    ) -> [PermitNotice] {
        guard let host = entries[flight]?.host else { return [] }
        let jitter = Double(random.next() >> 11) * 0x1p-53
        var change: OriginState.Change?
        self.change(host) {
            change = $0.note(
                response, of: flight, because: code, failingSince: failingSince, jitter: jitter, at: now)
        }
        return tell(change, host)
    }

    /// Blocks the host at an operator's request, or opens it (nil).
    package mutating func set(_ host: OriginHost, blockedFor wait: Duration?, because code: String, at now: Moment) {
        var change: OriginState.Change? = .opened
        self.change(host) {
            if let wait {
                change = $0.block(
                    until: now.monotonic + wait, because: code, by: OriginRow.operatorName, at: now)
            } else {
                $0.open(at: now.monotonic)
            }
        }
        _ = tell(change, host)
    }

    /// Applies a row about a host from another worker or an operator.
    ///
    /// After a block, workers ask the host one after the other (`HostSlots.turn`), so that most learn the first one's
    /// result before their turn.
    ///
    /// - Parameters:
    ///   - isOld: the row existed before the first reading.
    ///   - isOwn: this worker wrote the row, before its restart.
    /// - Returns: whether operators must be notified.
    package mutating func hear(_ row: OriginRow, isOld: Bool, isOwn: Bool, at now: Moment) -> Bool {
        let host = OriginHost(group: row.host)
        var change: OriginState.Change?
        if let wait = row.block(isOld: isOld, at: now.wall) {
            let turn = isOwn ? .zero : slots?.turn(of: host) ?? .zero
            let end = isOld ? now.wall : row.at
            let age = row.since.map { max(.zero, min(end - $0, OriginRow.longestBlock)) } ?? .zero
            self.change(host) {
                change = $0.block(
                    until: now.monotonic + wait + turn, because: row.code ?? "", by: isOwn ? nil : row.by,
                    isRequested: row.isRequested, age: age, at: now)
            }
        } else if row.isOperators {
            guard row.state == .open, origins[host].map({ $0.phase != .open }) ?? false else { return false }
            self.change(host) { $0.open(at: now.monotonic) }
            change = .opened
        } else if origins[host] != nil {
            switch row.state {
            case .open, .slowed: self.change(host) { change = $0.hear(openedBy: row.by, at: now.monotonic) }
            // The worker repeats this row three times within that time.
            case .probing:
                self.change(host) {
                    $0.wait(for: row.by, until: now.monotonic + OriginSummary.freshness, at: now.monotonic)
                }
            // The worker follows another one's block. If its own block is over, it has yet to probe.
            case .blocked: if row.until == nil { self.change(host) { $0.retract(row.by, at: now.monotonic) } }
            }
        }
        return !tell(change, host).isEmpty
    }

    private mutating func tell(_ change: OriginState.Change?, _ host: OriginHost) -> [PermitNotice] {
        switch change {
        case .blocked:
            closed[host] = entries.keys.filter { waits($0, for: host) }.sorted()
            return [.blocked(host)]
        case .opened:
            lift(.host(host))
            return [.unblocked(host)]
        case nil: return []
        }
    }

    mutating func noteWaiting(_ flight: FlightID, _ host: OriginHost, _ behind: OriginHost?) {
        for host in [host, behind] {
            guard let host, let origin = origins[host], origin.phase != .open else { continue }
            closed[host, default: []].append(flight)
            dropOver(host)
        }
        // Tracks the host while a flight waits for it, because its slots may change.
        if slots != nil, origins[host] == nil { change(host) { _ in } }
    }

    /// Drops flights that wait no more or are listed twice. If a host is only a redirect target, it may never be
    /// probed.
    private mutating func dropOver(_ host: OriginHost) {
        guard let flights = closed[host], flights.count > 2 * entries.count else { return }
        var seen: Set<FlightID> = []
        closed[host] = flights.filter { waits($0, for: host) && seen.insert($0).inserted }
    }

    mutating func change(_ host: OriginHost, _ body: (inout OriginState) -> Void) {
        if origins[host] == nil, origins.count >= Self.keptOrigins { forgetOrigins() }
        let (rules, slots) = (rules, slots)
        body(&origins[host, default: OriginState(host, rules.origins, most: rules.fetchPerHost, slots)])
    }

    private func newOrigin(_ host: OriginHost) -> OriginState {
        OriginState(host, rules.origins, most: rules.fetchPerHost, slots)
    }

    /// Number of hosts above which those are forgotten that are in their initial state, or have no fetch.
    package static let keptOrigins = 4_096

    /// Forgets idle hosts. If too many are left because they are in trouble, half of them go, those first that may be
    /// asked soonest. They may then be asked too early once, by one flight each.
    private mutating func forgetOrigins() {
        let waited = Set(entries.values.lazy.filter { $0.waits == .fetch }.map(\.host))
        for (host, origin) in origins where origin.isForgettable && !waited.contains(host) { forget(host) }
        guard origins.count >= Self.keptOrigins else { return }
        let idle = origins.filter { $1.inUse.all == 0 && !waited.contains($0) }
            .map { (host: $0, until: $1.blockedUntil) }
        for (host, _) in idle.sorted(by: { $0.until < $1.until }).prefix(Self.keptOrigins / 2) {
            forget(host)
        }
    }

    /// Lifts the host's bar, too: without its state, nothing else would return the groups that were skipped for it.
    private mutating func forget(_ host: OriginHost) {
        origins[host] = nil
        lift(.host(host))
    }

    /// Returns groups that only wait for time: those of hosts with a rate, and of hosts that are due for a probe.
    mutating func liftTimed() {
        for host in closed.keys where origins[host]?.isClosed(at: clock) != true { lift(.host(host)) }
        for host in paced where origins[host]?.isPaced(at: clock) != true {
            paced.remove(host)
            lift(.host(host))
        }
    }
}
