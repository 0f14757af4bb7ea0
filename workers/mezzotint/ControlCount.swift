internal import Canonical
internal import Clocks
internal import Failures
internal import ImageModel
import Ledger
import Ports
import Posix
internal import Records

/// Counts the jobs that controls are about, as far as the log shows them, by the rules that workers apply.
struct ControlCount {
    /// Jobs of one control, by place. A job is counted in one place only.
    struct Jobs {
        /// Read by a worker and not finished, or parked while they run.
        var running = 0
        var parked = 0
        /// Records of the lanes that no worker has read.
        var unread = 0

        var all: Int { running + parked + unread }
    }

    private let log: any Log
    private let controls: [Control]
    private let intake: Intake
    /// Whether to read the records that no worker has read.
    private let scans: Bool
    /// Jobs of each control, in the order of the controls.
    private(set) var jobs: [Jobs]
    /// Whether every record was seen that may be one of the jobs.
    private(set) var isExact = true
    private var progress = ReadingProgress()
    private let now = SystemTime.wall

    init(_ controls: [Control], in log: any Log, intake: Intake, scans: Bool) {
        (self.controls, self.log, self.intake, self.scans) = (controls, log, intake, scans)
        jobs = controls.map { _ in Jobs() }
    }

    /// - Parameter ends: ends of the lanes when the command began; jobs published later do not count.
    mutating func run(_ ends: LaneEnds) async throws {
        for partition in log.partitions {
            let own = controls.indices.filter { controls[$0].partitions(of: log).contains(partition) }
            if own.isEmpty { continue }
            try await count(own.map { ($0, controls[$0].with(ends[partition])) }, in: partition)
        }
    }

    private mutating func count(_ controls: [(index: Int, control: Control)], in partition: PartitionID) async throws {
        let row = try await log.newestProgress(of: partition)
        let places = try await log.partitionOffsets(Topic.jobTopics, [partition])
        // A row is far back in the changelog if many variants were stored since.
        if row == nil, places.contains(where: { $0.committed != nil && $0.records > 0 }) { isExact = false }
        // Outcomes that are newer than the row complete records and rows that still seem unfinished.
        var done: Set<ParkedKey> = []
        if let start = row?.answers?[.outcomes] { done = try await log.parkedCompletions(.outcomes, partition, from: start) }
        try await countParked(controls, in: partition, &done)
        for place in places { try await countRecords(controls, of: place, row?.topics[place.topic], done) }
    }

    /// Adds the parked jobs to `done`: a job is parked before its record is finished.
    private mutating func countParked(
        _ controls: [(index: Int, control: Control)], in partition: PartitionID, _ done: inout Set<ParkedKey>
    ) async throws {
        var fold = ParkedFold()
        var rows: [ParkedKey: (offset: Int64, isRunning: Bool, controls: [Int])] = [:]
        try await log.each(.parked, partition) { records in
            for record in records {
                fold.read(record)
                progress.took(1, of: .parked)
                guard case .change(.park(let row, let offset))? = try? ParkedEntry(record),
                    let job = try? intake.job(from: record)
                else { continue }
                let found = named(controls, job, row.identity, row.note.firstSeen)
                let isRunning = row.note.cause.code == RetryCause.Code.slow.rawValue
                rows[ParkedKey(row.source, row.identity)] = found.isEmpty ? nil : (offset, isRunning, found)
            }
        }
        for (key, row) in rows where fold.rows[key] == row.offset && !done.contains(key) {
            for index in row.controls {
                if row.isRunning { jobs[index].running += 1 } else { jobs[index].parked += 1 }
            }
        }
        if fold.unreadable > 0 { isExact = false }
        done.formUnion(fold.rows.keys)
    }

    private mutating func countRecords(
        _ controls: [(index: Int, control: Control)], of place: PartitionOffsets, _ progress: TopicProgress?,
        _ done: Set<ParkedKey>
    ) async throws {
        let known = progress?.finished(in: place.bounds, committed: place.committed)
        let finished = known == nil ? [] : Set(progress?.finished ?? [])
        let start = known?.next ?? place.start
        let unread = known == nil ? start : ((progress?.last ?? progress?.fingerprint)?.offset ?? -1) + 1
        let end = scans ? place.bounds.upperBound : min(place.bounds.upperBound, unread)
        if place.hidden > 0 || max(start, end) < place.bounds.upperBound { isExact = false }
        var recent = RecentParts()
        try await log.each(place.topic, place.partition, from: start, below: end, limit: 500) { records in
            for record in records where !finished.contains(record.offset) {
                self.progress.took(1, of: place.topic)
                guard let job = try? intake.job(from: record, &recent) else { continue }
                let identity = JobIdentity(of: record)
                if done.contains(ParkedKey(job.source, identity)) { continue }
                for index in named(controls, job, identity, record.timestamp) {
                    if record.offset < unread { jobs[index].running += 1 } else { jobs[index].unread += 1 }
                }
            }
        }
    }

    private func named(
        _ controls: [(index: Int, control: Control)], _ job: Job, _ identity: JobIdentity, _ published: WallTime
    ) -> [Int] {
        controls.filter { $0.control.names(job) && $0.control.isAfter(identity, published: published, appended: now) }
            .map(\.index)
    }
}

/// Ends of the lanes in each partition.
struct LaneEnds {
    private var ends: [PartitionID: [Topic: Int64]] = [:]

    init(_ log: any Log) async throws {
        for place in try await log.partitionOffsets(Topic.lanes, log.partitions) {
            // Jobs of an open transaction are published, too.
            ends[place.partition, default: [:]][place.topic] = place.bounds.upperBound + place.hidden
        }
    }

    subscript(partition: PartitionID) -> [Topic: Int64] { ends[partition] ?? [:] }
}

extension Control {
    /// The same control as one partition gets it.
    func with(_ ends: [Topic: Int64]) -> Control {
        var control = self
        control.ends = ends
        return control
    }

    /// Partitions that it goes to.
    func partitions(of log: any Log) -> [PartitionID] {
        guard case .source(let source, _) = scope else { return log.partitions }
        return [source.partition(of: log.partitionCount)]
    }
}
