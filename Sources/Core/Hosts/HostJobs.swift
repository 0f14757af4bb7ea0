package import Canonical
package import ImageModel
internal import Ledger
package import Records

/// Jobs of each host that wait in tiers for their host's sake.
package struct HostJobs: Sendable {
    /// Jobs that went to tiers for the sake of their host, and are not back: of this owner's, more may be there.
    private var away: [OriginHost: [Lane: Int]] = [:]
    /// Fast ones among them whose host has not failed: they do not become slow while they wait.
    private var urgent: [OriginHost: Int] = [:]
    /// The same of earlier owners', as far as they told.
    private var left = JobsLeftAway()

    /// Hosts whose waiting jobs are counted for people.
    package static let limit = 4_096

    package init() {}

    package func checkInvariants() {
        invariant(
            away.values.allSatisfy { !$0.isEmpty && $0.values.allSatisfy { $0 > 0 } }
                && urgent.allSatisfy { $1 > 0 && away[$0] != nil }, "a host with no job in a tier is counted")
    }

    /// One goes to a tier, or is answered there; `isUrgent`: it is fast, and its host has not failed.
    package mutating func goAway(_ host: OriginHost, _ lane: Lane, isUrgent: Bool) {
        count(host, lane, isUrgent: isUrgent, 1)
    }

    /// One has come back from its tier.
    package mutating func comeBack(
        _ host: OriginHost, _ lane: Lane, isUrgent: Bool, from topic: Topic, at offset: Int64
    ) {
        if !left.take(host, lane, topic, offset) { count(host, lane, isUrgent: isUrgent, -1) }
    }

    private mutating func count(_ host: OriginHost, _ lane: Lane, isUrgent: Bool, _ step: Int) {
        guard away[host] != nil || away.count < Self.limit else { return }
        let count = (away[host]?[lane] ?? 0) + step
        away[host, default: [:]][lane] = count > 0 ? count : nil
        if away[host]?.isEmpty == true { away[host] = nil }
        let fast = urgent[host, default: 0] + (isUrgent ? step : 0)
        urgent[host] = fast > 0 && away[host] != nil ? fast : nil
    }

    /// What an earlier owner has told.
    package mutating func inherit(_ told: [ProgressRow.Away]) { left = JobsLeftAway(told) }

    /// A tier is read from a position on, and ended there when the owner came.
    package mutating func begin(_ topic: Topic, at position: Int64, end: Int64) {
        left.begin(topic, at: position, end: end)
    }

    /// Records of the topic before this offset have been read.
    package mutating func read(_ topic: Topic, upTo offset: Int64) { left.read(topic, upTo: offset) }

    /// Hosts with jobs in tiers; one may be named twice.
    package var hostsAway: some Sequence<OriginHost> { [Array(away.keys), Array(left.jobs.keys)].joined() }

    package func isAway(_ share: HostLane) -> Bool {
        away[share.host]?[share.lane] != nil || left.jobs[share.host].map { $0[share.lane] > 0 } ?? false
    }

    /// Whether fast jobs of the host wait in tiers though it has not failed.
    package func hasUrgent(_ host: OriginHost) -> Bool { urgent[host] != nil }

    package var inTiers: [OriginHost: ByLane<Int>] {
        left.jobs.merging(away.mapValues { ByLane($0) }, uniquingKeysWith: +)
    }

    /// For the next owner.
    package var told: [ProgressRow.Away] {
        if away.isEmpty, left.jobs.isEmpty { return [] }
        let most = inTiers.sorted {
            ($1.value.sum, $0.key.description) < ($0.value.sum, $1.key.description)
        }
        return most.prefix(ProgressRow.awayLimit).map { ProgressRow.Away($0.key.description, $0.value) }
    }
}
