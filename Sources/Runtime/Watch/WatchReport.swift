package import Clocks
package import ImageModel
internal import Ports
package import Records

/// State to show at one moment. The page, its JSON and the metrics are all derived from it.
package struct WatchReport: Sendable {
    /// Time of the report, and of the log's last reply.
    package let at: WallTime
    package let respondedAt: WallTime?
    package internal(set) var diagnosis = Diagnosis(.starting, "Nothing was seen yet.", since: nil)
    package let lanes: [LaneReport]
    package let waits: [WaitReport]
    /// Active pauses in any partition, in the order of their ends.
    package let pauses: [Pause]
    package let failures: [FailureReport]
    package let partitions: [PartitionReport]
    package let workers: [WorkerReport]
    package let marks: [(at: WallTime, text: String)]
    /// Open dead letters; nil until all were read. There may be more than are counted.
    package var deadLetters: Int? {
        guard !partitions.isEmpty, deadLettersByPartition.count == partitions.count else { return nil }
        return deadLettersByPartition.values.reduce(0, +)
    }
    /// Counts for the partitions whose dead letters were all read.
    let deadLettersByPartition: [PartitionID: Int]
    package let hasMoreDeadLetters: Bool
    /// State of hosts as workers report it; nil until that was read.
    package let hosts: [OriginSummary]?
    /// Hosts that an operator has blocked.
    let pausedHosts: Set<String>
    /// See `HostTable.codes`.
    let hostCodes: [String: String]
    /// Number of workers that own partitions now; nil if that is not known.
    package let owners: Int?
    let foreignMembers: Int
    let openTransactions: Int
    /// Partitions of topics that the workers do not use.
    let partitionsAdded: Int
    /// Sampling that `waits` is based on.
    package let sampled: SampledPartitions
    /// Jobs that ended within `RecentEnds.span`, as far as outcomes were read, and those of them that ended badly.
    package let ended: (jobs: Int, failed: Int, expired: Int)
    /// Jobs that were lost within the last day; nil for none.
    package let loss: LossReport?
    /// Share of the render permits that was in use while the oldest unread job waited, from 0 to 1. nil if no worker
    /// exports it, or for too short a time.
    let rendersInUse: Double?
    /// Whether renderers are known to be idle. Only then a host's full limit, or the worker's read-ahead, is a cause.
    let hasIdleRenderers: Bool
    /// All pending jobs, unread and retried, as far as they are known.
    let pending: Double

    package struct LossReport: Sendable, Hashable {
        package let records: Int64
        /// Topics where lagwatch saw losses; empty if workers alone report them.
        package let topics: [Topic]
        /// Time when the last of them were found to be missing.
        package let last: WallTime
    }

    /// Hosts that are blocked or throttled now; nil if that is not known.
    package var troubledHosts: [OriginSummary]? { hosts?.filter { $0.state != .open } }
    package var blockedHosts: [OriginSummary]? { hosts?.filter { $0.state == .blocked } }

    /// Whether no job is pending anywhere, and everything was read to know that.
    var isEmpty: Bool { pending == 0 && lanes.allSatisfy { $0.lag.records == 0 && $0.parked?.jobs == 0 } }

    package struct LaneReport: Sendable {
        package let lane: Lane
        package let lag: Lag
        package let target: Duration
        package let rates: (in: Double, out: Double)?
        let minutes: [LaneHistory.Point]
        /// Its parked jobs, and those in old retry topics; nil if that is not known.
        package let parked: ParkedTally?
        /// Arrival time of its oldest job that no origin holds back; nil if there is none.
        package let ready: WallTime?
        /// Pauses that hold back jobs of the lane.
        let pauses: [Pause]
        /// Whether a pause holds back all jobs of the lane.
        var isPaused: Bool { pauses.contains { $0.holds(lane) } }

        /// Age of its oldest unfinished job, retried or not: 0 if there is none, nil if it is not known.
        package func age(at now: WallTime) -> Duration? {
            let oldest = [lag.oldest, parked?.since].compactMap { $0 }.min()
            return oldest.map { max(.zero, now - $0) } ?? (lag.records == 0 && parked?.jobs == 0 ? .zero : nil)
        }
        /// Whether its oldest job is older than the target, whether it is unread or parked. A paused lane is not late. While
        /// a host is paused, jobs count that no host holds back.
        package func isLate(at now: WallTime) -> Bool {
            guard pauses.isEmpty else { return isReadyLate(at: now) }
            return [lag.oldest, parked?.since].compactMap { $0 }.contains { now - $0 > target }
        }
        /// The same for jobs that no origin holds back: more workers, or more read-ahead, would start them.
        func isReadyLate(at now: WallTime) -> Bool { ready.map { now - $0 > target } ?? false }
        /// Seconds until no job is pending, retried ones included; nil if the backlog grows or is not known, or if hosts
        /// hold back all of it.
        package var drainSeconds: Double? {
            guard let drain, let records = lag.records, drain > 0 else { return nil }
            // The rate is that of jobs that no host holds back.
            if ready == nil, records == 0 || lag.oldest != nil { return nil }
            let pending = Double(records) + Double(parked?.jobs ?? 0)
            return pending > 0 ? pending / drain : nil
        }
        /// Jobs a second by which the backlog shrinks. Parked jobs are still pending. nil if that is not known.
        let drain: Double?
        var drainTime: Duration? { drainSeconds.map { .milliseconds(Int64(min($0, 1e9) * 1000)) } }
    }

    package struct WaitReport: Sendable, Hashable {
        package let reason: Reason
        package let lane: String
        package let host: String
        package let code: String?
        package var jobs: Double
        package var isEstimate: Bool
        /// Time when the first of them came.
        package var since: WallTime
        package var message: String

        /// Parts and events that jobs can wait for.
        package enum Reason: String, Sendable, CaseIterable {
            case turn, owner, restore, store, renderer, host
            case hostSlow = "host-slow"
            case readAhead = "read-ahead"
            case retry
            case paused
        }
    }

    package struct FailureReport: Sendable, Hashable {
        package let code: String
        package let host: String
        package let count: Int
        package let first: WallTime?
        package let last: WallTime?
        package let message: String
        package let job: String
        package let url: String
        package let source: String?
        /// Open dead letters of this code and host; nil until all were read.
        package let standing: Int?
    }

    package struct PartitionReport: Sendable {
        package enum State: String, Sendable, CaseIterable { case owned, restoring, unowned, unknown, unreadable }
        package let number: Int
        package let state: State
        package let owner: String?
        package let epoch: Int64?
        /// Lag of each topic whose records are finished.
        let topics: [(topic: Topic, lag: Lag)]
        package let retries: Lag
        /// By lane, from `WatchState.parkedSinceByLane`.
        let parkedSinceByLane: [String: WallTime]
        /// The unfinished record that others are finished behind, or that has made no progress for long.
        package let pinned: RecordOrigin?
        package let message: String?

        /// In `Lane`'s order.
        package var lanes: [Lag] { topics.filter { $0.topic.lane != nil }.map(\.lag) }

        /// Whether a job of the lane that is older than its target waits here, unread or parked.
        func isLate(_ lane: LaneReport, at now: WallTime) -> Bool {
            lane.pauses.isEmpty && [lanes[lane.lane.ordinal].oldest, parkedSinceByLane[lane.lane.rawValue]].compactMap { $0 }
                .contains { now - $0 > lane.target }
        }
    }

    package struct WorkerReport: Sendable {
        package let address: String
        package let figures: WorkerFigures?
        package let respondedAt: WallTime?
        package let silence: (since: WallTime, reason: String)?
        /// Start of its silence while workers were running; nil until it was asked then.
        let silentSince: WallTime?
        package let restoredAt: WallTime?
        let failedAt: [String: WallTime]
        /// Restarts after a crash, within the last ten minutes.
        let restarts: [WallTime]
    }
}

extension WatchReport {
    package init(_ state: WatchState, at now: WallTime) {
        at = now
        respondedAt = state.respondedAt
        workers = state.workers.map { address, worker in
            WorkerReport(
                address: address, figures: worker.figures, respondedAt: worker.respondedAt, silence: worker.silence,
                silentSince: worker.silentSince(owned: state.areOwnersKnown ? state.ownedSince : .distantPast),
                restoredAt: worker.restoredAt, failedAt: worker.failedAt,
                restarts: worker.restarts.filter { $0 > now - WorkerWatch.restartTime })
        }.sorted { $0.address < $1.address }
        let restoring = state.restoringByWorkers
        partitions = (0..<state.partitionCount).map { state.partition($0, at: now, restoring: restoring) }
        failures = state.failureReports
        marks = state.marks.map { ($0.at, $0.text) }
        deadLettersByPartition = state.deadLetters.counts
        hasMoreDeadLetters = state.deadLetters.isMore
        let hosts = state.hosts?.summaries(at: now)
        self.hosts = hosts
        hostCodes = state.hosts?.codes ?? [:]
        pausedHosts = Set(hosts?.lazy.filter { $0.code == OriginRow.operatorName }.map(\.host) ?? [])
        let blocked = Set(hosts?.lazy.filter { $0.state == .blocked }.map(\.host) ?? [])
        let pauses = Pause.active(state.partitions.flatMap { $0.progress?.pauses ?? [] }, at: now)
        let (waits, sampled) = state.waits(blocked: blocked, pauses: pauses, restoring: restoring)
        (self.waits, self.sampled, self.pauses) = (waits, sampled, pauses)
        let use = state.rendersInUse(waits)
        let isIdle = use.map { $0 < Findings.idleRenders } ?? false
        (rendersInUse, hasIdleRenderers) = (use, isIdle)
        let full = Set(hosts?.lazy.filter { isIdle && $0.limit > 0 && $0.inFlight >= $0.limit }.map(\.host) ?? [])
        let retries = state.waitingLag()
        lanes = Lane.allCases.map { lane in
            let (lag, history) = (state.lag(of: lane, at: now), state.lanes[lane.ordinal])
            let parked = ParkedTally(
                of: lane, waits, in: retries, sampled, parkedSince: state.parkedSince(lane))
            return LaneReport(
                lane: lane, lag: lag, target: state.targets[lane], rates: history.rates,
                minutes: history.minutes, parked: parked, ready: Self.ready(lane, lag, waits, sampled, full, pauses),
                pauses: pauses.filter { $0.holdsJobs(of: lane) },
                drain: Self.drain(history, parked, state.retries, of: waits))
        }
        foreignMembers = state.isShared ? state.foreignMembers.count : 0
        openTransactions = state.openTransactions(at: now).count
        partitionsAdded = state.grown.reduce(0) { $0 + $1.partitions - $1.used }
        pending = max(
            waits.reduce(0) { $0 + $1.jobs },
            Double(lanes.reduce(0) { $0 + ($1.lag.records ?? 0) } + (retries.records ?? 0)))
        let tally = state.ends.tally(RecentEnds.span, to: now)
        ended = (tally.jobs, tally.failed + tally.dead, tally.expired)
        loss = state.losses.summary(at: now)
        owners = state.areOwnersKnown ? Set(state.partitions.compactMap(\.owner)).count : nil
        diagnosis = Diagnosis(of: self, state, at: now)
    }

    /// Drain rate of a lane. Jobs that were parked, and ended then, count for each lane by its share of the parked jobs.
    private static func drain(
        _ own: LaneHistory, _ parked: ParkedTally?, _ retries: LaneHistory, of waits: [WaitReport]
    ) -> Double? {
        guard let drain = own.drain, let parked else { return nil }
        let all = waits.reduce(0) { $0 + ($1.code == nil ? 0 : $1.jobs) }
        return drain + (all > 0 ? (retries.drain ?? 0) * Double(parked.jobs) / all : 0)
    }

    /// Arrival time of the lane's oldest job that no origin holds back. No unread job is older than the lane's first,
    /// and samples show which of them wait for a host.
    ///
    /// - Parameter full: hosts whose limit is full while renderers are idle, so that their jobs wait for them.
    private static func ready(
        _ lane: Lane, _ lag: Lag, _ waits: [WaitReport], _ sampled: SampledPartitions, _ full: Set<String>,
        _ pauses: [Pause]
    ) -> WallTime? {
        if pauses.contains(where: { $0.holds(lane) }) { return nil }
        let own = waits.filter { $0.lane == lane.rawValue }
        let held = { (wait: WaitReport) in
            [.host, .hostSlow, .paused].contains(wait.reason) || full.contains(wait.host)
        }
        let parked = own.filter { $0.code != nil && !held($0) }.map(\.since).min()
        let unread = own.filter { $0.code == nil && !held($0) }.map(\.since).min()
        let isHeld = own.contains { $0.code == nil && held($0) } && !sampled.without.contains(.jobs(lane))
        let first = isHeld ? unread.map { max($0, lag.oldest ?? $0) } : lag.oldest
        return [first, parked].compactMap { $0 }.min()
    }
}

extension WatchState {
    /// Time after which a record is reported as pinned, if others are finished behind it.
    static let pinnedTime: Duration = .minutes(1)

    fileprivate func partition(_ number: Int, at now: WallTime, restoring: Int?) -> WatchReport.PartitionReport {
        typealias State = WatchReport.PartitionReport.State
        let watch = partitions[number]
        let places = Topic.consumed.map { ($0, place($0, number)) }
        let failure = places.compactMap { $0.1.failure?.reason }.first
        let state: State =
            if failure != nil { .unreadable } else if !areOwnersKnown || places[0].1.end == nil {
                .unknown
            } else if watch.owner == nil {
                .unowned
            } else {
                isRestoring(number, reported: restoring).map { $0 ? .restoring : .owned } ?? .unknown
            }
        return WatchReport.PartitionReport(
            number: number, state: state, owner: watch.owner, epoch: watch.epoch?.epoch,
            topics: Topic.consumed.map { ($0, lag(of: [$0], in: number)) } + [(.parked, parkedLag(in: number))],
            retries: waitingLag(in: number),
            parkedSinceByLane: parkedSinceByLane(in: number),
            pinned: watch.owner == nil ? nil : pinned(number, at: now),
            message: failure)
    }

    /// The pinned record of a lane topic.
    private func pinned(_ number: Int, at now: WallTime) -> RecordOrigin? {
        for topic in Topic.lanes {
            let place = place(topic, number)
            guard let start = place.start, let movedAt = place.movedAt, now - movedAt > Self.pinnedTime,
                let progress = partitions[number].progress?.topics[topic], progress.next == start,
                !progress.finished.isEmpty
            else { continue }
            return RecordOrigin(topic: topic, partition: PartitionID(Int32(number)), offset: start)
        }
        return nil
    }

    fileprivate var failureReports: [WatchReport.FailureReport] {
        var standing: [FailureTable.Key: [DeadLetterChange.Entry]] = [:]
        for (key, own) in deadLetters.byKey {
            // A job is in one row, though its outcome and its dead letter may have two codes.
            standing[failures.rows[key.published] == nil ? key : key.published, default: []] += own
        }
        let isKnown = deadLetters.count != nil
        return Set(failures.rows.keys).union(standing.keys).map { key in
            let (row, own) = (failures.rows[key], standing[key] ?? [])
            let newest = own.max { $0.at < $1.at }
            return WatchReport.FailureReport(
                code: key.code, host: key.host, count: row?.count ?? 0, first: row?.first ?? own.map(\.at).min(),
                last: row?.last ?? newest?.at, message: row?.message ?? newest?.message ?? "",
                job: row?.job ?? newest?.id ?? "", url: row?.url ?? "", source: row?.source,
                standing: isKnown ? own.count : nil)
        }.sorted {
            let (a, b) = ($0.last ?? .distantPast, $1.last ?? .distantPast)
            return (a, $0.count, $1.code, $1.host) > (b, $1.count, $0.code, $0.host)
        }
    }
}
