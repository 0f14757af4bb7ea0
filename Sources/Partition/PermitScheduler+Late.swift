internal import Canonical
internal import ImageModel

/// A fetch that takes long leaves its permit to others, and counts among the late ones: else hosts that are silent, or send
/// a little at a time, hold all permits until their deadlines, and quick hosts wait for those.
///
/// As many fetches may be late as there are permits, and half of them may be of slow flights. When there are so many, further
/// ones keep their permits. Then a host with a late fetch begins no other; one that has not answered well has one at a time, and
/// all such hosts leave a quarter of the permits to those that have.
extension PermitScheduler {
    /// Who is to leave permits to others while no more fetches may be late.
    struct Crowd: Sendable {
        /// Hosts of fetches that have run for long.
        var late: Set<OriginHost> = []
        /// Permits that hosts hold which have not answered well.
        var unproven = 0
    }

    /// Fetches grow old by time alone: this is asked before permits are given, at each tick at least.
    mutating func countLate() {
        guard rules.lateAfter < .max else { return }
        let old = fetches.filter { clock - $0.value >= rules.lateAfter }
        for (flight, _) in old.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) where late.all < rules.late {
            guard var seat = seats[flight], !seat.isLate else { continue }
            guard seat.lane.isUrgent || late.slow < rules.slowLate else { continue }
            count(.fetch, seat, -1)
            seat.isLate = true
            count(.fetch, seat, 1)
            seats[flight] = seat
            aged[flight] = nil
        }
        crowd = Crowd()
        if late.all >= rules.late {
            crowd.late = Set(old.keys.compactMap { seats[$0]?.host })
            crowd.unproven = fetches.keys.count { flight in
                seats[flight].map { !$0.isLate && !isProven($0.host) } ?? false
            }
        }
        liftYielding()
    }

    /// Whether the host is to leave permits to others.
    func yields(_ host: OriginHost) -> Bool {
        guard late.all >= rules.late else { return false }
        if isProven(host) { return crowd.late.contains(host) }
        return crowd.unproven >= rules.unproven || (origins[host]?.inUse.all ?? 0) > 0
    }

    func isProven(_ host: OriginHost) -> Bool { origins[host]?.isProven ?? false }

    /// As many hosts as there are permits, those first that have waited longest: to look at all of them each time costs more.
    private mutating func liftYielding() {
        var room = free[.fetch, default: 0]
        guard room > 0, !yielding.isEmpty else { return }
        let waiting = yielding
        yielding = []
        for host in waiting {
            if room > 0, !yields(host) {
                lift(.host(host))
                room -= 1
            } else {
                yielding.append(host)
            }
        }
    }
}
