internal import Canonical
internal import ImageModel
internal import Ledger
internal import Records

/// Jobs that earlier owners left in delay topics because of their hosts, by host and lane. The count is that of their
/// last progress row, less the jobs that have returned. Once each delay topic is read to its end of that time, the rest
/// does not exist.
struct JobsLeftAway: Sendable {
    private(set) var jobs: [OriginHost: ByLane<Int>] = [:]
    /// Delay topics that are not read up to their end when the owner came, with that end. `.max` until the end is
    /// known.
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

    /// Uncounts a job that has returned. False if the job is not one of an earlier owner.
    mutating func take(_ host: OriginHost, _ lane: Lane, _ topic: Topic, _ offset: Int64) -> Bool {
        guard let end = ends[topic], offset < end, let count = jobs[host]?[lane], count > 0 else { return false }
        jobs[host]?[lane] = count - 1
        if jobs[host]?.sum == 0 { jobs[host] = nil }
        return true
    }
}
