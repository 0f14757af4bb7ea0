package import Canonical
internal import Clocks
internal import Hosts
internal import ImageModel
internal import Ledger

/// Late fetches: a fetch that takes long leaves its permit to others. Otherwise hosts that are silent, or send a little
/// at a time, would hold all permits until their deadlines, and quick hosts would wait.
///
/// As many fetches may be late as there are permits, and half of them may be of slow flights. At that limit, further
/// ones keep their permits, and a host with a late fetch starts no other.
///
/// Hosts that have not responded well may all become late. When they have fetches for half of the permits, each is
/// limited to one at a time. All together leave a quarter of the permits.
extension PermitScheduler {
    /// Marks fetches that have become late. Fetches become late by time alone, so this runs before permits are given,
    /// at least at each tick.
    mutating func countLate() {
        guard let lateAfter = rules.lateAfter else { return }
        guard fetches.contains(where: { clock - $0.value >= lateAfter }) else {
            lateHosts = []
            return liftYielding()
        }
        let old = fetches.filter { clock - $0.value >= lateAfter }
        for (flight, _) in old.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) where late.all < rules.late {
            guard var entry = entries[flight], !entry.isLate else { continue }
            guard entry.lane.isUrgent || late.slow < rules.slowLate else { continue }
            count(.fetch, entry, -1)
            entry.isLate = true
            count(.fetch, entry, 1)
            entries[flight] = entry
            doubtful.insert(flight)
            aged[flight] = nil
        }
        lateHosts = late.all < rules.late ? [] : Set(old.keys.compactMap { entries[$0]?.host })
        liftYielding()
    }

    /// Whether the host must leave permits to others.
    func yields(_ host: OriginHost) -> Bool {
        guard rules.lateAfter != nil else { return false }
        if isProven(host) { return late.all >= rules.late && lateHosts.contains(host) }
        return doubtful.count >= rules.doubtful
            || (doubtful.count >= rules.fetchPerHost && (origins[host]?.inUse.all ?? 0) > 0)
    }

    package func isProven(_ host: OriginHost) -> Bool { origins[host]?.isProven ?? false }

    /// Returns as many hosts as there are permits, those that have waited longest first. Examining all of them each
    /// time costs more.
    private mutating func liftYielding() {
        var room = free[.fetch]
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
