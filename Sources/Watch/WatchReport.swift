package import ImageModel
internal import Ports
internal import Posix
package import Records

/// What there is to show at one moment: the page, its JSON and the metrics are all made from it.
package struct WatchReport: Sendable {
    /// Milliseconds since 1970: when it was made, and when the log last answered.
    package let at: Int64
    package let answeredAt: Int64?
    package internal(set) var diagnosis = Diagnosis(.starting, "Nothing was seen yet.", since: nil)
    package let lanes: [LaneReport]
    package let waits: [WaitReport]
    package let failures: [FailureReport]
    package let partitions: [PartitionReport]
    package let workers: [WorkerReport]
    package let marks: [(at: Int64, text: String)]
    /// Dead letters that stand; nil until all were read. More may stand than are counted.
    package var letters: Int? {
        guard !partitions.isEmpty, lettersByPartition.count == partitions.count else { return nil }
        return lettersByPartition.values.reduce(0, +)
    }
    /// Of the partitions whose letters were all read.
    let lettersByPartition: [PartitionID: Int]
    package let hasMoreLetters: Bool
    /// Hosts as workers tell of them; nil until that was read.
    package let hosts: [OriginSummary]?
    /// Those of them that a person has blocked.
    let pausedHosts: Set<String>
    /// Who owns partitions now; nil where nobody told.
    package let owners: Int?
    let foreignMembers: Int
    let openTransactions: Int
    /// Partitions of topics that the workers do not use.
    let partitionsAdded: Int
    /// What `waits` is told from.
    package let sampled: SampledPlaces

    /// Those that are left alone now, or asked less; nil where that is not known.
    package var troubledHosts: [OriginSummary]? { hosts?.filter { $0.state != .open } }
    package var blockedHosts: [OriginSummary]? { hosts?.filter { $0.state == .blocked } }

    package struct LaneReport: Sendable {
        package let lane: Lane
        package let lag: Lag
        package let target: Int64
        package let rates: (in: Double, out: Double)?
        let minutes: [LaneHistory.Point]
        /// Its jobs that stand in retry topics; nil where that is not known.
        package let retried: RetriedJobs?

        /// Of its oldest unfinished job, whether it is tried again or not: 0 where there is none, nil where it is not known.
        package func age(at now: Int64) -> Int64? {
            let oldest = [lag.oldest, retried?.since].compactMap { $0 }.min()
            return oldest.map { max(0, now - $0) } ?? (lag.records == 0 && retried?.jobs == 0 ? 0 : nil)
        }
        /// Whether a job that was not begun yet is older than the target; one that is tried again was begun.
        package func isLate(at now: Int64) -> Bool { lag.age(at: now).map { $0 > target } ?? false }
        /// Seconds until nothing waits, at the last minute's rates; nil where it grows or is not known.
        package var drainSeconds: Double? {
            guard let rates, let records = lag.records, records > 0, rates.out > rates.in else { return nil }
            return Double(records) / (rates.out - rates.in)
        }
        var drainMilliseconds: Int64? { drainSeconds.map { Int64(min($0, 1e9) * 1000) } }
    }

    package struct WaitReport: Sendable, Hashable {
        package let reason: Reason
        package let lane: String
        package let host: String
        package let code: String?
        package var jobs: Double
        package var isEstimate: Bool
        /// When the first of them came, milliseconds since 1970.
        package var since: Int64
        package var message: String

        /// What jobs can wait for.
        package enum Reason: String, Sendable, CaseIterable {
            case turn, owner, restore, store, renderer, host
            case hostSlow = "host-slow"
            case retry
        }
    }

    package struct FailureReport: Sendable, Hashable {
        package let code: String
        package let host: String
        package let count: Int
        package let first: Int64?
        package let last: Int64?
        package let message: String
        package let job: String
        package let url: String
        package let source: String?
        /// Dead letters of this kind that stand; nil until all were read.
        package let standing: Int?
    }

    package struct PartitionReport: Sendable {
        package enum State: String, Sendable, CaseIterable { case owned, restoring, unowned, unknown, unreadable }
        package let number: Int
        package let state: State
        package let owner: String?
        package let epoch: Int64?
        /// Of each topic whose records are finished.
        let topics: [(topic: Topic, lag: Lag)]
        package let retries: Lag
        /// The unfinished record behind which others are finished, or which has not come on for long.
        package let pinned: RecordOrigin?
        package let message: String?

        /// In `Lane`'s order.
        package var lanes: [Lag] { topics.filter { $0.topic.lane != nil }.map(\.lag) }
    }

    package struct WorkerReport: Sendable {
        package let address: String
        package let figures: WorkerFigures?
        package let answeredAt: Int64?
        package let silence: (since: Int64, reason: String)?
        package let restoredAt: Int64?
        let failedAt: [String: Int64]
    }
}

extension WatchReport {
    package init(_ state: WatchState, at now: Int64) {
        at = now
        answeredAt = state.answeredAt
        workers = state.workers.map { address, worker in
            WorkerReport(
                address: address, figures: worker.figures, answeredAt: worker.answeredAt, silence: worker.silence,
                restoredAt: worker.restoredAt, failedAt: worker.failedAt)
        }.sorted { $0.address < $1.address }
        let restoring = state.restoringByWorkers
        partitions = (0..<state.partitionCount).map { state.partition($0, at: now, restoring: restoring) }
        failures = state.failureReports
        marks = state.marks.map { ($0.at, $0.text) }
        lettersByPartition = state.letters.counts
        hasMoreLetters = state.letters.isMore
        let hosts = state.hosts?.summaries(at: now)
        self.hosts = hosts
        pausedHosts = Set(hosts?.lazy.filter { $0.code == OriginRow.operatorName }.map(\.host) ?? [])
        let blocked = Set(hosts?.lazy.filter { $0.state == .blocked }.map(\.host) ?? [])
        let (waits, sampled) = state.waits(blocked: blocked, restoring: restoring)
        (self.waits, self.sampled) = (waits, sampled)
        let retries = state.lag(of: Topic.retries)
        lanes = Lane.allCases.map { lane in
            LaneReport(
                lane: lane, lag: state.lag(of: lane, at: now), target: Int64(state.targets[lane].milliseconds),
                rates: state.lanes[lane.ordinal].rates, minutes: state.lanes[lane.ordinal].minutes,
                retried: RetriedJobs(of: lane, waits, in: retries, sampled))
        }
        foreignMembers = state.isShared ? state.foreignMembers.count : 0
        openTransactions = state.openTransactions(at: now).count
        partitionsAdded = state.grown.reduce(0) { $0 + $1.partitions - $1.used }
        owners = state.areOwnersKnown ? Set(state.partitions.compactMap(\.owner)).count : nil
        diagnosis = Diagnosis(of: self, state, at: now)
    }
}

extension WatchState {
    /// A record that stands so long while others are finished behind it is worth a look.
    static let pinnedMilliseconds: Int64 = 60_000

    fileprivate func partition(_ number: Int, at now: Int64, restoring: Int?) -> WatchReport.PartitionReport {
        typealias State = WatchReport.PartitionReport.State
        let watch = partitions[number]
        let places = Topic.worked.map { ($0, place($0, number)) }
        let failure = places.compactMap { $0.1.failure?.reason }.first
        let state: State =
            if failure != nil { .unreadable } else if !areOwnersKnown || places[0].1.end == nil {
                .unknown
            } else if watch.owner == nil {
                .unowned
            } else {
                isRestoring(number, told: restoring).map { $0 ? .restoring : .owned } ?? .unknown
            }
        return WatchReport.PartitionReport(
            number: number, state: state, owner: watch.owner, epoch: watch.epoch?.epoch,
            topics: Topic.worked.map { ($0, lag(of: [$0], in: number)) }, retries: lag(of: Topic.retries, in: number),
            pinned: watch.owner == nil ? nil : pinned(number, at: now), message: failure)
    }

    /// Retry topics stand still by design: their records wait.
    private func pinned(_ number: Int, at now: Int64) -> RecordOrigin? {
        for topic in Topic.lanes {
            let place = place(topic, number)
            guard let start = place.start, let movedAt = place.movedAt, now - movedAt > Self.pinnedMilliseconds,
                let progress = partitions[number].progress?.topics[topic], progress.next == start,
                !progress.finished.isEmpty
            else { continue }
            return RecordOrigin(topic: topic, partition: PartitionID(Int32(number)), offset: start)
        }
        return nil
    }

    fileprivate var failureReports: [WatchReport.FailureReport] {
        let standing = letters.byKey
        let isKnown = letters.count != nil
        return Set(failures.rows.keys).union(standing.keys).map { key in
            let row = failures.rows[key]
            return WatchReport.FailureReport(
                code: key.code, host: key.host, count: row?.count ?? 0, first: row?.first, last: row?.last,
                message: row?.message ?? "", job: row?.job ?? "", url: row?.url ?? "",
                source: row?.source, standing: isKnown ? standing[key] ?? 0 : nil)
        }.sorted {
            ($0.last ?? .min, $0.count, $1.code, $1.host) > ($1.last ?? .min, $1.count, $0.code, $0.host)
        }
    }
}
