package import Canonical
package import Clocks
internal import Hosts
internal import ImageModel
package import Ledger
package import Records

/// Each host has what it bears, and one that fails is left alone: its flights wait elsewhere, but for a probe.
extension PermitScheduler {
    /// How long the flights of a host that may not be asked are to wait at least, and why.
    package struct Hold: Sendable, Equatable {
        package let host: OriginHost
        package let wait: Duration
        package let code: String

        package init(host: OriginHost, wait: Duration, code: String) {
            (self.host, self.wait, self.code) = (host, wait, code)
        }
    }

    /// Flights that wait for a host which may not be asked now: they are to wait elsewhere.
    package mutating func takeHeld(at now: Moment) -> [(flight: FlightID, hold: Hold)] {
        guard !closed.isEmpty, !isDraining else { return [] }
        var held: [(FlightID, Hold)] = []
        for (host, flights) in closed {
            guard let origin = origins[host], origin.phase != .open else {
                closed[host] = nil
                continue
            }
            // One of them goes as a probe as soon as there is a permit.
            guard origin.isClosed(at: now.monotonic) else { continue }
            let hold = Hold(host: host, wait: origin.wait(at: now), code: origin.trouble?.code ?? "")
            let waiting = flights.filter { waits($0, for: host) }
            held += waiting.map { ($0, hold) }
            // What has begun may stay until the host may be asked.
            closed[host] = waiting.isEmpty ? nil : waiting
        }
        return held
    }

    private func waits(_ flight: FlightID, for host: OriginHost) -> Bool {
        seats[flight].map { $0.waits == .fetch && ($0.host == host || $0.behind == host) } ?? false
    }

    /// How many jobs of the host would be of use in memory: one that is to be tried again needs one.
    package func use(of host: OriginHost, at now: Moment) -> Int {
        guard let origin = origins[host], origin.phase != .open else { return .max }
        return origin.isClosed(at: now.monotonic) ? 0 : 1
    }

    /// Whether the host is asked as usual, as one is of which nothing is known.
    package func isOpen(_ host: OriginHost) -> Bool { origins[host]?.phase ?? .open == .open }

    /// Whether one more flight may be fetched from the host.
    package func hasRoom(_ host: OriginHost, isSlow: Bool) -> Bool {
        let isUnknown = origins[host] == nil && slots == nil
        return (isUnknown || (origins[host] ?? newOrigin(host)).mayBegin(isSlow: isSlow, at: clock)) && !yields(host)
    }

    func hasRoom(_ host: OriginHost, _ rank: Rank) -> Bool { hasRoom(host, isSlow: rank != .fast) }

    /// What the flight's fetch tells of its host; people hear of hosts that are left alone, and of those that answer again.
    mutating func hear(
        _ answer: OriginAnswer, of flight: FlightID, because code: String, failingSince: WallTime?, at now: Moment
    ) -> [PermitNotice] {
        guard let host = seats[flight]?.host else { return [] }
        let jitter = Double(random.next() >> 11) * 0x1p-53
        var change: OriginState.Change?
        self.change(host) {
            change = $0.note(
                answer, of: flight, because: code, failingSince: failingSince, jitter: jitter, at: now)
        }
        return tell(change, host)
    }

    /// A person wants the host to be left alone, or asked again (nil).
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

    /// What another worker has told of a host, or a person wants.
    ///
    /// Where a host was left alone, workers ask it again one after the other (`HostSlots.turn`), so that most hear how the
    /// first one fared before their turn comes.
    ///
    /// - Parameters:
    ///   - isOld: it was there before the first reading.
    ///   - isOwn: this worker wrote it, before it was started again.
    /// - Returns: whether people are to hear of it.
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
                    isWish: row.isWish, age: age, at: now)
            }
        } else if row.isOperators {
            guard row.state == .open, origins[host].map({ $0.phase != .open }) ?? false else { return false }
            self.change(host) { $0.open(at: now.monotonic) }
            change = .opened
        } else if origins[host] != nil {
            switch row.state {
            case .open, .slowed: self.change(host) { change = $0.hear(openedBy: row.by, at: now.monotonic) }
            // Told again three times within that.
            case .probing:
                self.change(host) {
                    $0.wait(for: row.by, until: now.monotonic + OriginSummary.freshness, at: now.monotonic)
                }
            // It follows another one's word. Where its own time is over, it has yet to ask.
            case .blocked: if row.until == nil { self.change(host) { $0.retract(row.by, at: now.monotonic) } }
            }
        }
        return !tell(change, host).isEmpty
    }

    private mutating func tell(_ change: OriginState.Change?, _ host: OriginHost) -> [PermitNotice] {
        switch change {
        case .blocked:
            closed[host] = seats.keys.filter { waits($0, for: host) }.sorted()
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
        // Its slots may go and come while it is waited for.
        if slots != nil, origins[host] == nil { change(host) { _ in } }
    }

    /// Those that wait no more, or stand there twice: where a host is only led to, nobody may ever ask it whether it is back.
    private mutating func dropOver(_ host: OriginHost) {
        guard let flights = closed[host], flights.count > 2 * seats.count else { return }
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

    /// Hosts of which nothing is to be known, or nothing is asked now, are forgotten beyond so many.
    package static let keptOrigins = 4_096

    /// Where more are in trouble, the half goes that may be asked soonest: once too early, then, and one flight each.
    private mutating func forgetOrigins() {
        let waited = Set(seats.values.lazy.filter { $0.waits == .fetch }.map(\.host))
        for (host, origin) in origins where origin.isForgettable && !waited.contains(host) { forget(host) }
        guard origins.count >= Self.keptOrigins else { return }
        let idle = origins.filter { $1.inUse.all == 0 && !waited.contains($0) }
            .map { (host: $0, until: $1.blockedUntil) }
        for (host, _) in idle.sorted(by: { $0.until < $1.until }).prefix(Self.keptOrigins / 2) {
            forget(host)
        }
    }

    /// What was set aside for it would come back by its word alone.
    private mutating func forget(_ host: OriginHost) {
        origins[host] = nil
        lift(.host(host))
    }

    /// Time alone brings these back: hosts with a rate, and those that one flight is to ask again.
    mutating func liftTimed() {
        for host in closed.keys where origins[host]?.isClosed(at: clock) != true { lift(.host(host)) }
        for host in paced where origins[host]?.isPaced(at: clock) != true {
            paced.remove(host)
            lift(.host(host))
        }
    }
}
