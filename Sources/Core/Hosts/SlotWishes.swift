package import Canonical
package import Clocks
internal import ImageModel
package import Records

/// Which workers want slots of hosts: what their rows say of that.
package struct SlotWishes: Sendable {
    private struct Heard: Sendable {
        var want: HostSlots.Want
        /// When it was first heard that it wants one for fetches, and when anything of it last was.
        var fetchSince: Instant?
        var isUrgent: Bool
        var at: Instant
    }

    private var heard: [OriginHost: [String: Heard]] = [:]
    private static let hosts = 4_096
    /// So long after its slow job began to wait, a worker that has a slow slot is dated as wanting one for fetches.
    private static let longWait = HostSlots.turn * 2
    /// No wait counts for more, so that a wrong clock puts nobody off for ever.
    private static let longestWait = Duration.hours(1)

    package init() {}

    package mutating func hear(_ row: OriginRow, of host: OriginHost, at now: Instant) {
        guard row.partition != nil || row.slowPartition != nil else {
            heard[host]?[row.by] = nil
            if heard[host]?.isEmpty == true { heard[host] = nil }
            return
        }
        guard heard[host] != nil || heard.count < Self.hosts else { return }
        let known = heard[host]?[row.by]
        // Its age is by its teller's clock, so that all have the same order though clocks differ.
        let age = row.slowSince.map { max(.zero, min(row.at - $0, Self.longestWait)) }
        let slowSince = age.map { now - $0 } ?? row.slowPartition.map { _ in known?.want.slowSince ?? now }
        heard[host, default: [:]][row.by] = Heard(
            want: HostSlots.Want(fetch: row.partition, slow: row.slowPartition, slowSince: slowSince),
            fetchSince: row.partition.map { _ in known?.fetchSince ?? now },
            isUrgent: Lane.allCases.contains { $0.isUrgent && row.waiting[$0] > 0 }, at: now)
    }

    /// Those that were heard of lately: a worker that is gone wants nothing.
    package mutating func live(at now: Instant) -> [HostSlots.Wish] {
        var wishes: [HostSlots.Wish] = []
        for (host, workers) in heard {
            let live = workers.filter { now - $0.value.at < OriginSummary.freshness }
            heard[host] = live.isEmpty ? nil : live
            for worker in live.values {
                let want = worker.want
                if let partition = want.slow {
                    wishes.append(
                        HostSlots.Wish(host, for: partition, isSlow: true, since: want.slowSince ?? now))
                }
                if let partition = want.fetch {
                    let aged = want.slow == nil ? want.slowSince.map { $0 + Self.longWait } : nil
                    let since = worker.fetchSince ?? now
                    wishes.append(
                        HostSlots.Wish(
                            host, for: partition, isUrgent: worker.isUrgent, since: min(since, aged ?? since)))
                }
            }
        }
        return wishes
    }
}

extension OriginRow {
    package mutating func tell(_ want: HostSlots.Want, at now: Moment) {
        (partition, slowPartition) = (want.fetch, want.slow)
        slowSince = want.slowSince.map { now.wall - (now.monotonic - $0) }
    }
}
