package import Canonical
package import Clocks
internal import ImageModel
package import Records

/// Slot requests that workers publish in their rows.
package struct SlotRequests: Sendable {
    private struct Heard: Sendable {
        let partition: PartitionID
        let hasFast: Bool
        let since: Instant
        /// When the row was last read.
        let at: Instant
    }

    private var heard: [OriginHost: [String: Heard]] = [:]
    private static let hosts = 4_096

    package init() {}

    package mutating func hear(_ row: OriginRow, of host: OriginHost, at now: Instant) {
        guard let partition = row.partition else {
            heard[host]?[row.by] = nil
            if heard[host]?.isEmpty == true { heard[host] = nil }
            return
        }
        guard heard[host] != nil || heard.count < Self.hosts else { return }
        // The age comes from the sender's clock, so that all workers order requests the same though clocks differ.
        let told = row.waitingSince.map { now - max(.zero, row.at - $0) }
        let since = told ?? heard[host]?[row.by]?.since ?? now
        heard[host, default: [:]][row.by] = Heard(
            partition: partition, hasFast: Lane.allCases.contains { $0.isUrgent && row.waiting[$0] > 0 }, since: since,
            at: now)
    }

    /// Recent requests. A worker that is gone requests nothing.
    ///
    /// - Parameter slowWait: age from which a slow job's request is urgent.
    package mutating func live(at now: Instant, slowWait: Duration) -> [HostSlots.Request] {
        heard = heard.compactMapValues { workers in
            let live = workers.filter { now - $0.value.at < OriginSummary.freshness }
            return live.isEmpty ? nil : live
        }
        return heard.flatMap { host, workers in
            workers.values.map {
                HostSlots.Request(
                    host, for: $0.partition, isUrgent: $0.hasFast || now - $0.since >= slowWait, since: $0.since)
            }
        }
    }
}

extension OriginRow {
    package mutating func tell(_ slotRequest: HostSlots.Request, at now: Moment) {
        (partition, waitingSince) = (slotRequest.partition, now.wall - (now.monotonic - slotRequest.since))
    }
}
