import Clocks
import ImageModel
import Ports
import Records

import TestSupport
@testable import Watch

extension DeadLetterChange.Entry {
    init(id: String, code: String, host: String, at: WallTime) {
        self.init(
            id: id, code: code, host: host, at: at,
            origin: RecordOrigin(topic: .jobsFast, partition: PartitionID(0), offset: 0), offset: 0)
    }
}

/// A watch that is told what a test wants, look by look.
struct Scene {
    static let start: WallTime = 1_790_000_000_000
    private static let topics = Topic.consumed + [.parked]
    private(set) var state: WatchState
    private(set) var now = Scene.start
    let count: Int
    private var begins: [Topic: [Int64]]
    private var ends: [Topic: [Int64]]
    private var committed: [Topic: [Int64]]
    var owners: [PartitionID: String]
    var unreadable: Set<Int> = []
    /// Offsets that a transaction hides behind what is published.
    var hidden: [LogPoint: Int64] = [:]
    var workers: [WorkerSight] = []
    private var parked: [Int: [Parked]] = [:]

    /// Parked jobs with one reason.
    private struct Parked {
        let jobs: Int
        let group: PlaceSample.Group
        let since: WallTime
        let message: String
        var lane: Lane { Lane(rawValue: group.lane)! }
    }

    init(
        partitions count: Int = 4, isShared: Bool = true, owner: String? = "w1@10.0.0.1", cluster: ClusterName? = nil
    ) {
        self.count = count
        state = WatchState(
            partitions: count, targets: ByLane { $0 == .fast ? .seconds(5) : .seconds(3600) }, isShared: isShared,
            cluster: cluster)
        let noughts = Dictionary(
            uniqueKeysWithValues: Self.topics.map { ($0, Array(repeating: Int64(0), count: count)) })
        (begins, ends, committed) = (noughts, noughts, noughts)
        owners = [:]
        if let owner { for number in 0..<count { owners[PartitionID(Int32(number))] = owner } }
        workers = owner.map { _ in [WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: count)))] } ?? []
    }

    var report: WatchReport { WatchReport(state, at: now) }

    static func figures(
        owned: Int, restoring: Int = 0, rowsLeft: Int = 0, fetches: Int = 0, renders: Int = 0,
        failures: [String: Double] = [:], steps: [String: WorkerFigures.Step] = [:]
    ) -> WorkerFigures {
        var figures = WorkerFigures()
        (figures.owned, figures.restoring, figures.rowsLeft) = (owned, restoring, rowsLeft)
        (figures.fetchPermits, figures.renderPermits) = (.init(used: fetches, all: 32), .init(used: renders, all: 2))
        (figures.failures, figures.started, figures.steps) = (failures, 1_789_999_000_000, steps)
        figures.crashes = 0
        return figures
    }

    mutating func publish(_ records: Int64, to topic: Topic, _ partition: Int) { ends[topic]?[partition] += records }
    mutating func finish(_ records: Int64, of topic: Topic, _ partition: Int) {
        committed[topic]?[partition] += records
    }
    /// Retention takes the records below.
    mutating func remove(below offset: Int64, of topic: Topic, _ partition: Int) { begins[topic]?[partition] = offset }

    /// So many jobs of a host ended like this just now.
    mutating func end(_ kind: OutcomeKind, _ jobs: Int, code: String = "", host: String, message: String = "") {
        let end = JobEnd(
            kind, code: code, host: host, message: message, job: "j1", url: "\(host)/a.jpg", at: now)
        apply(.ended(Array(repeating: end, count: jobs)))
    }

    /// The worker was started again, after a crash or a stop.
    mutating func restart(after lastLine: String? = nil, isClean: Bool = false) {
        guard case .figures(var figures) = workers[0].answer else { return }
        (figures.started, figures.lastLine) = (now, lastLine)
        if !isClean { figures.crashes? += 1 }
        workers[0] = WorkerSight(workers[0].address, .figures(figures))
    }

    /// Two seconds without a look.
    mutating func advance() { now += 2_000 }
    mutating func apply(_ event: WatchEvent) { state.apply(event, at: now) }

    /// Looks every two seconds for so long; `step` says what happens before each.
    mutating func look(_ seconds: Int = 2, _ step: (inout Scene) -> Void = { _ in }) {
        for _ in 0..<max(1, seconds / 2) {
            now += 2_000
            step(&self)
            let points = Self.topics.flatMap { topic in
                (0..<count).map { LogPoint(topic, PartitionID(Int32($0)), nil) }
            }
            let results = points.map { point -> Result<PartitionOffsets, LogFailure> in
                let number = Int(point.partition.number)
                if unreadable.contains(number) { return .failure(.unavailable(reason: "its leader is away")) }
                return .success(
                    PartitionOffsets(
                        topic: point.topic, partition: point.partition,
                        bounds: (begins[point.topic]?[number] ?? 0)..<(ends[point.topic]?[number] ?? 0),
                        committed: committed[point.topic]?[number], hidden: hidden[point] ?? 0))
            }
            apply(.offsets(results, of: points))
            apply(.owners(owners))
            apply(.asked(workers.map(\.address)))
            apply(.workers(workers))
        }
    }

    /// The oldest record of a place came so long ago.
    mutating func head(_ topic: Topic, _ partition: Int, seconds: Int64) {
        apply(
            .head(
                LogPoint(topic, PartitionID(Int32(partition)), committed[topic]?[partition]),
                appended: now - .seconds(seconds)))
    }

    /// Owners of all partitions keep these pauses for ten minutes.
    mutating func pause(_ scopes: [Pause.Scope]) {
        for number in 0..<count {
            var row = state.partitions[number].progress ?? ProgressRow(partition: PartitionID(Int32(number)), topics: [:], at: now)
            row.pauses = scopes.enumerated().map { index, scope in
                Pause("c-\(index + 1)", scope, since: now, until: now + 600_000, by: "ana@host", why: "a new disk")
            }
            apply(.progress(row))
        }
    }

    /// A worker tells this of a host.
    mutating func tell(
        _ host: String, _ state: OriginRow.State, code: String? = nil, inFlight: Int = 0, of limit: Int = 6,
        by teller: String = "w1"
    ) {
        var row = OriginRow(host: host, by: teller, at: now)
        (row.state, row.code, row.since) = (state, code, state == .open ? nil : now)
        (row.until, row.inFlight, row.limit) = (state == .blocked ? now + 600_000 : nil, inFlight, limit)
        apply(.hosts([row]))
    }

    /// So many jobs of each host are parked, the oldest since `seconds`: their owner reports it, and their rows are sampled.
    mutating func park(
        _ jobs: Int, in partition: Int = 0, code: String, hosts: [String], lane: Lane = .fast, seconds: Int64 = 20,
        message: String = "", isSampled: Bool = true
    ) {
        parked[partition, default: []] += hosts.map {
            Parked(
                jobs: jobs, group: .init(lane: lane.rawValue, host: $0, code: code), since: now - .seconds(seconds),
                message: message)
        }
        ends[.parked]?[partition] += Int64(jobs * hosts.count)
        tellParked(in: partition)
        guard isSampled else { return }
        var sample = PlaceSample(.parked, PartitionID(Int32(partition)))
        for own in parked[partition] ?? [] {
            for _ in 0..<own.jobs { sample.count(own.group, since: own.since, message: own.message) }
        }
        apply(.sample(sample))
    }

    mutating func park(
        _ jobs: Int, in partition: Int = 0, code: String, host: String, lane: Lane = .fast, seconds: Int64 = 20,
        message: String = "", isSampled: Bool = true
    ) {
        park(
            jobs, in: partition, code: code, hosts: [host], lane: lane, seconds: seconds, message: message,
            isSampled: isSampled)
    }

    /// No job is parked there any more.
    mutating func unpark(in partition: Int = 0) {
        parked[partition] = []
        tellParked(in: partition)
    }

    private mutating func tellParked(in partition: Int) {
        let own = parked[partition] ?? []
        let lanes = ByLane { lane in
            let jobs = own.filter { $0.lane == lane }
            return ProgressRow.Parked.Jobs(Int64(jobs.reduce(0) { $0 + $1.jobs }), oldest: jobs.map(\.since).min())
        }
        var hosts: [String: ByLane<Int>] = [:]
        for jobs in own { hosts[jobs.group.host, default: .none][jobs.lane] += jobs.jobs }
        let away = hosts.sorted { ($1.value.sum, $0.key) < ($0.value.sum, $1.key) }.prefix(ProgressRow.awayLimit)
        apply(
            .progress(
                ProgressRow(
                    partition: PartitionID(Int32(partition)), topics: [:], away: away.map { .init($0.key, $0.value) },
                    parked: .init(epoch: 1, lanes: lanes), at: now)))
    }

    /// So many records of a place wait for this.
    mutating func sample(
        _ topic: Topic, _ partition: Int, _ jobs: Int, code: String?, host: String, message: String = ""
    ) {
        var sample = PlaceSample(topic, PartitionID(Int32(partition)))
        for _ in 0..<jobs {
            sample.count(
                .init(lane: topic.lane?.rawValue ?? "fast", host: host, code: code), since: now - 20_000,
                message: message)
        }
        apply(.sample(sample))
    }
}
