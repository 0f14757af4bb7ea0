package import Canonical
package import ImageModel
internal import Ledger
package import Records

/// Counts, by host and lane, the jobs that wait in delay topics because of their host.
package struct HostJobs: Sendable {
    /// Jobs that this owner deferred because of their host and that have not returned. Earlier owners may have left
    /// more in the topics.
    private var away: [OriginHost: [Lane: Int]] = [:]
    /// Fast jobs among them whose host has not failed. They stay fast while they wait.
    private var urgent: [OriginHost: Int] = [:]
    /// The same counts for jobs of earlier owners, as their last progress row reported them.
    private var left = JobsLeftAway()

    /// Maximum number of hosts whose waiting jobs are counted. The counts are for operators.
    package static let limit = 4_096

    package init() {}

    package func checkInvariants() {
        invariant(
            away.values.allSatisfy { !$0.isEmpty && $0.values.allSatisfy { $0 > 0 } }
                && urgent.allSatisfy { $1 > 0 && away[$0] != nil }, "a host without jobs in delay topics is counted")
    }

    /// Counts a job that goes to a delay topic, or whose outcome is written there. `isUrgent`: the job is fast and its
    /// host has not failed.
    package mutating func goAway(_ host: OriginHost, _ lane: Lane, isUrgent: Bool) {
        count(host, lane, isUrgent: isUrgent, 1)
    }

    /// Uncounts a job that has returned from its delay topic.
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

    /// Takes over the counts that an earlier owner reported.
    package mutating func inherit(_ told: [ProgressRow.Away]) { left = JobsLeftAway(told) }

    /// Notes where reading of a delay topic starts, and where the topic ended when this owner came.
    package mutating func begin(_ topic: Topic, at position: Int64, end: Int64) {
        left.begin(topic, at: position, end: end)
    }

    /// Records of the topic before this offset have been read.
    package mutating func read(_ topic: Topic, upTo offset: Int64) { left.read(topic, upTo: offset) }

    /// Hosts with jobs in delay topics. A host may appear twice.
    package var hostsAway: some Sequence<OriginHost> { [Array(away.keys), Array(left.jobs.keys)].joined() }

    package func isAway(_ share: HostLane) -> Bool {
        away[share.host]?[share.lane] != nil || left.jobs[share.host].map { $0[share.lane] > 0 } ?? false
    }

    /// Whether fast jobs of the host wait in delay topics although the host has not failed.
    package func hasUrgent(_ host: OriginHost) -> Bool { urgent[host] != nil }

    package var inTiers: [OriginHost: ByLane<Int>] {
        left.jobs.merging(away.mapValues { ByLane($0) }, uniquingKeysWith: +)
    }

    /// Counts for the next owner, those of the hosts with the most jobs first.
    package var told: [ProgressRow.Away] {
        if away.isEmpty, left.jobs.isEmpty { return [] }
        let most = inTiers.sorted {
            ($1.value.sum, $0.key.description) < ($0.value.sum, $1.key.description)
        }
        return most.prefix(ProgressRow.awayLimit).map { ProgressRow.Away($0.key.description, $0.value) }
    }
}
