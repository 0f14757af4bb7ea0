package import Clocks
internal import Failures
internal import ImageModel
internal import Images
internal import Ports
internal import Records

extension WatchReport.WaitReport.Reason {
    /// Creates the reason that a failure's code gives a job to wait.
    init(code: String) { self = Self.byCode[code] ?? (code.hasPrefix("fetch.") ? .host : .retry) }

    /// Codes of this machine by their verdict. An origin's deadline and 408 mean that it is slow. A host's full share
    /// of the read-ahead shows nothing about the host.
    private static let byCode: [String: Self] = {
        var reasons: [String: Self] = [:]
        for entry in StoreFailure.catalogue where entry.verdict == .wait { reasons[entry.code] = .store }
        reasons[LogFailure.Code.full.rawValue] = .store
        for entry in RenderFailure.catalogue where entry.verdict == .wait { reasons[entry.code] = .renderer }
        for entry in FetchFailure.catalogue where entry.verdict == .wait { reasons[entry.code] = .retry }
        for code in [FetchFailure.Code.deadline, .requestTimeout] { reasons[code.rawValue] = .hostSlow }
        reasons[RetryCause.Code.hostBlocked.rawValue] = .host
        reasons[RetryCause.Code.hostCrowded.rawValue] = .readAhead
        reasons[RetryCause.Code.paused.rawValue] = .paused
        return reasons
    }()

    /// The reason of jobs that may be paused. Without an owner, jobs wait for that.
    fileprivate func under(_ pauses: [Pause], _ group: PlaceSample.Group) -> Self {
        if self == .owner || self == .restore { return self }
        let isPaused = pauses.contains { pause in
            pause.holds(hostNamed: group.host) || Lane(rawValue: group.lane).map { pause.holds($0) } ?? false
        }
        return isPaused ? .paused : self == .paused ? .turn : self
    }
}

extension WatchState {
    /// Pending jobs by reason, lane, host and code, estimated from the samples, the most jobs first. A topic's
    /// partitions without a sample count like those with one.
    ///
    /// - Parameters:
    ///   - blocked: hosts that are blocked now, so that their jobs do not wait for their turn.
    ///   - pauses: Active pauses. Jobs that another one held back wait for their turn.
    ///   - restoring: the value of `restoringByWorkers`.
    func waits(
        blocked: Set<String>, pauses: [Pause], restoring: Int?
    ) -> (reports: [WatchReport.WaitReport], sampled: SampledPartitions) {
        typealias Report = WatchReport.WaitReport
        var found: [Key: Report] = [:]
        var sampled = SampledPartitions()
        for topic in Topic.consumed {
            let waiting = (0..<partitionCount).filter { place(topic, $0).unfinished ?? 0 > 0 }
            let seen = waiting.filter { place(topic, $0).sample?.seen ?? 0 > 0 }
            sampled.of += waiting.count
            sampled.topicPartitions += seen.count
            if seen.isEmpty, !waiting.isEmpty { sampled.without.insert(topic) }
            let records = { (places: [Int]) in places.reduce(0.0) { $0 + Double(place(topic, $1).unfinished ?? 0) } }
            let scale = seen.count == waiting.count ? 1 : records(waiting) / records(seen)
            for number in seen {
                let place = place(topic, number)
                guard let unfinished = place.unfinished, let sample = place.sample else { continue }
                // Records that were published since are at the end, and count like those before them.
                let weight = scale * Double(unfinished) / Double(sample.seen)
                for (group, figures) in sample.groups {
                    var reason =
                        group.code.map { Report.Reason(code: $0) } ?? reason(ofLaneIn: number, restoring: restoring)
                    if reason == .turn, blocked.contains(group.host) { reason = .host }
                    reason = reason.under(pauses, group)
                    let key = Key(reason: reason, group: group)
                    var report =
                        found[key]
                        ?? Report(
                            reason: reason, lane: group.lane, host: group.host, code: group.code, jobs: 0,
                            isEstimate: false, since: figures.since, message: "")
                    report.jobs += Double(figures.count) * weight
                    report.isEstimate = report.isEstimate || scale != 1 || Int64(sample.seen) != unfinished
                    report.since = min(report.since, figures.since)
                    if !figures.message.isEmpty { report.message = figures.message }
                    found[key] = report
                }
            }
        }
        for watch in partitions where watch.parked?.jobs ?? 0 > 0 {
            sampled.of += 1
            if watch.parkedSample?.seen ?? 0 > 0 { sampled.topicPartitions += 1 }
            addParked(watch, blocked, pauses, to: &found)
        }
        let reports = found.values.sorted {
            ($0.jobs, $1.reason.rawValue, $1.host, $1.lane, $1.code ?? "")
                > ($1.jobs, $0.reason.rawValue, $0.host, $0.lane, $0.code ?? "")
        }
        return (reports, sampled)
    }

    /// Adds a partition's parked jobs. Their numbers, and the hosts with the most of them, are the owner's. A sample of the
    /// newest rows divides them by code, and the jobs of other hosts by host. Without a sample, a blocked host is the
    /// reason, or else the host's share of the read-ahead.
    private func addParked(
        _ watch: PartitionWatch, _ blocked: Set<String>, _ pauses: [Pause], to found: inout [Key: WatchReport.WaitReport]
    ) {
        guard let parked = watch.parked else { return }
        for lane in Lane.allCases where parked.lanes[lane].jobs > 0 {
            let all = Double(parked.lanes[lane].jobs)
            let oldest = parked.lanes[lane].oldest ?? watch.progress?.at ?? .distantFuture
            let sampled = (watch.parkedSample?.groups ?? [:]).filter { $0.key.lane == lane.rawValue }
            let hosts = (watch.progress?.away ?? []).filter { $0.jobs[lane] > 0 }
            let names = Set(hosts.map(\.host))
            var shares = hosts.map { host in
                (jobs: Double(host.jobs[lane]), host: host.host, groups: sampled.filter { $0.key.host == host.host })
            }
            let others = all - shares.reduce(0) { $0 + $1.jobs }
            if others > 0 { shares.append((others, "", sampled.filter { !names.contains($0.key.host) })) }
            for var share in shares {
                if share.groups.isEmpty {
                    let code: RetryCause.Code = blocked.contains(share.host) ? .hostBlocked : .hostCrowded
                    let group = PlaceSample.Group(lane: lane.rawValue, host: share.host, code: code.rawValue)
                    share.groups = [group: PlaceSample.Figures(count: 1, since: oldest)]
                }
                let seen = Double(share.groups.reduce(0) { $0 + $1.value.count })
                // The oldest job is not among the newest rows. It belongs to the only group, if there is only one.
                let isOne = share.jobs == all && share.groups.count == 1
                for (group, figures) in share.groups {
                    let isBlocked = blocked.contains(group.host)
                    let reason = isBlocked ? .host : WatchReport.WaitReport.Reason(code: group.code ?? "")
                    let key = Key(reason: reason.under(pauses, group), group: group)
                    let since = isOne ? oldest : max(oldest, figures.since)
                    var report =
                        found[key]
                        ?? WatchReport.WaitReport(
                            reason: key.reason, lane: group.lane, host: group.host, code: group.code, jobs: 0,
                            isEstimate: false, since: since, message: "")
                    report.jobs += share.jobs * Double(figures.count) / seen
                    report.isEstimate = report.isEstimate || share.groups.count > 1 && seen != share.jobs
                    report.since = min(report.since, since)
                    if !figures.message.isEmpty { report.message = figures.message }
                    found[key] = report
                }
            }
        }
    }

    /// First-seen time of a lane's oldest parked job; nil if none is known.
    func parkedSince(_ lane: Lane) -> WallTime? { partitions.compactMap { $0.parked?.lanes[lane].oldest }.min() }

    /// Share of the render permits in use, at polls since the oldest job came that no failure holds back: idle permits
    /// before it show nothing. nil if no worker exports it, or if there are too few polls to tell a moment from a
    /// state.
    func rendersInUse(_ waits: [WatchReport.WaitReport]) -> Double? {
        let ready = waits.filter { $0.code == nil || $0.reason == .readAhead }
        let begun = (ready.map(\.since) + (lag(of: Topic.lanes).oldest.map { [$0] } ?? [])).min() ?? .distantPast
        let looks = workers.values.filter { $0.silence == nil }.map { $0.renders.filter { $0.at > begun } }
        let permits = looks.joined().reduce(0) { $0 + $1.all }
        guard permits > 0, looks.contains(where: { $0.count >= Self.leastLooks }) else { return nil }
        return Double(looks.joined().reduce(0) { $0 + $1.used }) / Double(permits)
    }
    private static let leastLooks = 3

    /// End of the block of each blocked host.
    package func blockedHosts(at now: WallTime) -> [String: WallTime] {
        let blocked = hosts?.summaries(at: now).filter { $0.state == .blocked } ?? []
        return Dictionary(blocked.map { ($0.host, $0.until ?? now) }) { $1 }
    }

    private struct Key: Hashable {
        let reason: WatchReport.WaitReport.Reason
        let group: PlaceSample.Group
    }

    private func reason(ofLaneIn partition: Int, restoring: Int?) -> WatchReport.WaitReport.Reason {
        if areOwnersKnown, partitions[partition].owner == nil || isForeign(partition) { return .owner }
        return isRestoring(partition, reported: restoring) == true ? .restore : .turn
    }
}
