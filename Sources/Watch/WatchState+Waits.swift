internal import Failures
internal import ImageModel
internal import Ports
internal import Records

extension WatchReport.WaitReport.Reason {
    /// What a failure's code makes a job wait for.
    init(code: String) { self = Self.byCode[code] ?? (code.hasPrefix("fetch.") ? .host : .retry) }

    /// Those of this machine by their verdict; an origin's deadline and 408 mean that it is slow, and so do more jobs of it
    /// than may be in memory.
    private static let byCode: [String: Self] = {
        var reasons: [String: Self] = [:]
        for entry in StoreFailure.catalogue where entry.verdict == .wait { reasons[entry.code] = .store }
        for entry in RenderFailure.catalogue where entry.verdict == .wait { reasons[entry.code] = .renderer }
        for entry in FetchFailure.catalogue where entry.verdict == .wait { reasons[entry.code] = .retry }
        for code in [FetchFailure.Code.deadline, .requestTimeout] { reasons[code.rawValue] = .hostSlow }
        reasons[RetryCause.Code.hostBlocked.rawValue] = .host
        reasons[RetryCause.Code.hostCrowded.rawValue] = .hostSlow
        return reasons
    }()
}

extension WatchState {
    /// What waits, by reason, lane, host and code: estimated from the samples, the most jobs first. How many places have
    /// something that waits, and how many of them were sampled.
    ///
    /// - Parameter blocked: hosts that are left alone now: nothing of theirs waits for its turn.
    func waits(blocked: Set<String>) -> (reports: [WatchReport.WaitReport], sampled: (of: Int, places: Int)) {
        typealias Report = WatchReport.WaitReport
        var found: [Key: Report] = [:]
        var (waiting, sampled) = (0, 0)
        for topic in Topic.worked {
            for number in 0..<partitionCount {
                let place = place(topic, number)
                guard let unfinished = place.unfinished, unfinished > 0 else { continue }
                waiting += 1
                guard let sample = place.sample, sample.seen > 0 else { continue }
                sampled += 1
                // Records that were published since stand at the end, and are taken to be like those before them.
                let weight = Double(unfinished) / Double(sample.seen)
                for (group, figures) in sample.groups {
                    var reason = group.code.map { Report.Reason(code: $0) } ?? reason(ofLaneIn: number)
                    if reason == .turn, blocked.contains(group.host) { reason = .host }
                    let key = Key(reason: reason, group: group)
                    var report =
                        found[key]
                        ?? Report(
                            reason: reason, lane: group.lane, host: group.host, code: group.code, jobs: 0,
                            isEstimate: false, since: figures.since, message: "")
                    report.jobs += Double(figures.count) * weight
                    report.isEstimate = report.isEstimate || Int64(sample.seen) != unfinished
                    report.since = min(report.since, figures.since)
                    if !figures.message.isEmpty { report.message = figures.message }
                    found[key] = report
                }
            }
        }
        let reports = found.values.sorted {
            ($0.jobs, $1.reason.rawValue, $1.host, $1.lane, $1.code ?? "")
                > ($1.jobs, $0.reason.rawValue, $0.host, $0.lane, $0.code ?? "")
        }
        return (reports, (waiting, sampled))
    }

    private struct Key: Hashable {
        let reason: WatchReport.WaitReport.Reason
        let group: PlaceSample.Group
    }

    private func reason(ofLaneIn partition: Int) -> WatchReport.WaitReport.Reason {
        if areOwnersKnown, partitions[partition].owner == nil { return .owner }
        return partitions[partition].isRestoring ? .restore : .turn
    }
}
