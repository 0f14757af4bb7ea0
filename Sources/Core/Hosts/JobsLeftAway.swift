internal import Canonical
internal import ImageModel
internal import Ledger
internal import Records

/// Jobs that earlier owners left in tiers for the sake of their hosts, by host and lane: what their last row told of them,
/// less what has come back. What remains once the tiers were read as far as they went then is not there.
struct JobsLeftAway: Sendable {
    private(set) var jobs: [OriginHost: ByLane<Int>] = [:]
    /// Tiers that are not read to the end that they had when the owner came, and that end; `.max` until it is known.
    private var ends: [Topic: Int64] = [:]

    init() {}

    init(_ told: [ProgressRow.Away]) {
        guard !told.isEmpty else { return }
        for away in told { jobs[OriginHost(group: away.host)] = away.jobs }
        for tier in DelayTier.allCases { ends[tier.topic] = .max }
    }

    mutating func begin(_ topic: Topic, at position: Int64, end: Int64) {
        guard ends[topic] != nil else { return }
        ends[topic] = end
        read(topic, upTo: position)
    }

    /// Records of the topic before this offset have been read.
    mutating func read(_ topic: Topic, upTo offset: Int64) {
        guard let end = ends[topic], offset >= end else { return }
        ends[topic] = nil
        if ends.isEmpty { jobs = [:] }
    }

    /// One has come back; false if it is none of these.
    mutating func take(_ host: OriginHost, _ lane: Lane, _ topic: Topic, _ offset: Int64) -> Bool {
        guard let end = ends[topic], offset < end, let count = jobs[host]?[lane], count > 0 else { return false }
        jobs[host]?[lane] = count - 1
        if jobs[host]?.sum == 0 { jobs[host] = nil }
        return true
    }
}
