package import Clocks
internal import ImageModel
internal import Records

/// Number of topic-partitions with records to sample, and of those with a sample.
package struct SampledPartitions: Sendable, Hashable {
    package internal(set) var of = 0
    package internal(set) var topicPartitions = 0
    /// Topics that have records, but no sampled partition.
    var without: Set<Topic> = []
}

/// A lane's jobs that wait after they were read: parked ones, and those in old retry topics, which are estimated from
/// samples.
package struct ParkedTally: Sendable, Hashable {
    package private(set) var jobs = 0
    package private(set) var isEstimate = false
    /// Time when the first of them came; nil if there is none.
    package private(set) var since: WallTime?

    /// nil if a topic was not sampled yet.
    ///
    /// - Parameter parkedSince: first-seen time of the oldest parked job.
    init?(
        of lane: Lane, _ waits: [WatchReport.WaitReport], in retries: Lag, _ sampled: SampledPartitions,
        parkedSince: WallTime?
    ) {
        guard retries.records != nil, sampled.without.isDisjoint(with: Topic.retries) else { return nil }
        let own = waits.filter { $0.code != nil && $0.lane == lane.rawValue }
        jobs = Int(own.reduce(0) { $0 + $1.jobs }.rounded())
        isEstimate = own.contains(where: \.isEstimate)
        since = (own.map(\.since) + [parkedSince].compactMap(\.self)).min()
    }

    /// `~1,240`.
    var text: String { (isEstimate ? "~" : "") + Words.count(jobs) }
}

extension WatchReport.LaneReport {
    /// `87 parked`, in addition to unread ones; empty if there is none.
    var parkedText: String {
        guard let parked else { return "unknown parked" }
        return parked.jobs > 0 ? "\(parked.text) parked" : ""
    }
}
