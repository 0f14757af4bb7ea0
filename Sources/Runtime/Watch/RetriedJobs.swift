package import Clocks
internal import ImageModel
internal import Records

/// Places of the log that have records to sample, and those whose sample counts.
package struct SampledPlaces: Sendable, Hashable {
    package internal(set) var of = 0
    package internal(set) var places = 0
    /// Topics that have records, and no place that was sampled.
    var without: Set<Topic> = []
}

/// Jobs of a lane that stand in retry topics, by the samples of these.
package struct RetriedJobs: Sendable, Hashable {
    package private(set) var jobs = 0
    package private(set) var isEstimate = false
    /// When the first of them came; nil where there is none.
    package private(set) var since: WallTime?

    /// nil where some topic was not sampled yet.
    init?(of lane: Lane, _ waits: [WatchReport.WaitReport], in retries: Lag, _ sampled: SampledPlaces) {
        guard retries.records != nil, sampled.without.isDisjoint(with: Topic.retries) else { return nil }
        let own = waits.filter { $0.code != nil && $0.lane == lane.rawValue }
        jobs = Int(own.reduce(0) { $0 + $1.jobs }.rounded())
        isEstimate = own.contains(where: \.isEstimate)
        since = own.map(\.since).min()
    }

    /// `~1,240`.
    var text: String { (isEstimate ? "~" : "") + Words.count(jobs) }
}

extension WatchReport.LaneReport {
    /// `87 retried`, beside those that are unread; empty where there is none.
    var retriedText: String {
        guard let retried else { return "unknown retried" }
        return retried.jobs > 0 ? "\(retried.text) retried" : ""
    }
}
