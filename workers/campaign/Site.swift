internal import Canonical
internal import Clocks
internal import CommandLine
internal import EmbeddedLog
internal import Foundation
internal import ImageModel
internal import Ports
internal import Records
internal import TestSupport
internal import VariantSpec

/// A real worker on a data directory of its own, with the jobs published to it and their outcomes in its log.
actor Site {
    private let folder: TemporaryFolder
    private let log: EmbeddedLog
    private let intake = Intake(rules: CanonicalRules())
    private let settings: [String]
    private var worker: RunningProgram
    private var next: [PartitionID: Int64] = [:]
    private var waiting: [String: ContinuousClock.Instant] = [:]
    private var done: Set<String> = []
    private var sound: [[UInt8]: [[UInt8]: Record]] = [:]

    /// Unexpected ends of the worker.
    private(set) var crashes = 0
    /// Outcomes, by the kind of input that a job was published for.
    private(set) var ends: [String: [String: Int]] = [:]
    /// Number of jobs that were completed twice.
    private(set) var repeated = 0
    /// Time of the last hostile outcome: innocent jobs continue as long as others are awaited.
    private(set) var lastAnswer = ContinuousClock.now
    /// Duration of each innocent job.
    private(set) var innocent: [Duration] = []
    private(set) var rows = RowCounts()

    init(_ more: [String]) async throws {
        folder = try TemporaryFolder()
        settings =
            ([
                "data=data", "log.partitions=4", "log.outcomesKept=10000000", "logging.level=error",
                // The worker may contact only the campaign's own origins, even if a URL is damaged.
                "fetch.allow=127.0.0.0/8", "fetch.hosts.allow=127.0.0.0/8,stranger.invalid",
                "fetch.timeouts.dns=300ms",
                "fetch.timeouts.connect=500ms", "fetch.timeouts.firstByte=1s", "fetch.timeouts.total=2s",
                "retry.attempts=1", "render.deadline=2s",
                // They fail on purpose.
                "origins.concurrency=64", "origins.breaker.failures=0", "origins.backoff=0ms",
            ] + more).flatMap { ["--set", $0] }
        log = try EmbeddedLog(
            folder.file("data/log"), EmbeddedLogConfiguration(partitions: 4, outcomesKept: 10_000_000))
        worker = try RunningProgram("mezzotint-worker", settings + ["--json"], in: folder.url)
    }

    var unanswered: Int { waiting.count }

    func job(_ url: String, _ variant: String, id: String, lane: Lane = .fast) throws -> NewRecord {
        try intake.job(url: url, variants: [try CanonicalRules().spec(of: variant)], id: id, lane: lane)
            .newRecord(partitions: log.partitionCount, at: 0)
    }

    /// Appends a record; a record with an id must complete once, or counts as lost.
    func publish(_ record: NewRecord, as id: String?) async throws {
        if let id { waiting[id] = .now }
        for result in await log.append([record]) where result.offset == nil {
            throw CampaignFailure(description: "The log took no record: \(result)")
        }
    }

    /// The rows of a job's source in their last readable form: damaged rows overwrite them.
    func rows(of job: NewRecord) async throws -> [Record] {
        for row in try await log.latest(.variants, job.partition, keyPrefix: job.key) where Self.isReadable(row) {
            sound[job.key, default: [:]][row.key] = row
        }
        return (sound[job.key] ?? [:]).values.sorted { $0.offset < $1.offset }
    }

    /// Appends a damaged row, which the worker must fold, or skip with a log line.
    func publish(row: NewRecord) async throws {
        rows.published += 1
        let record = Record(
            topic: row.topic, partition: row.partition, offset: 0, timestamp: .epoch, key: row.key, value: row.value,
            headers: row.headers)
        if !Self.isReadable(record) { rows.unreadable += 1 }
        try await publish(row, as: nil)
    }

    private static func isReadable(_ row: Record) -> Bool { (try? ChangelogEntry(row)) != nil }

    /// Counts new outcomes, and restarts the worker if it is gone.
    func look(isOver: Bool = false) async throws {
        for number in 0..<Int32(log.partitionCount) {
            let partition = PartitionID(number)
            for record in try await log.read(.outcomes, partition, from: next[partition] ?? 0, limit: 10_000) {
                next[partition] = record.offset + 1
                note(try OutcomeReport(record))
            }
        }
        guard !isOver, !worker.isRunning else { return }
        check(try await worker.ended())
        worker = try RunningProgram("mezzotint-worker", settings + ["--json"], in: folder.url)
    }

    private func note(_ outcome: OutcomeReport) {
        let job = outcome.job
        if !job.hasPrefix("innocent-") { lastAnswer = .now }
        let end = outcome.failure.map { "\(outcome.kind.rawValue) \($0.code)" } ?? outcome.kind.rawValue
        ends["\(job.prefix { $0 != "-" })", default: [:]][end, default: 0] += 1
        guard let since = waiting.removeValue(forKey: job) else {
            if !done.insert(job).inserted { repeated += 1 }
            return
        }
        done.insert(job)
        if job.hasPrefix("innocent-") { innocent.append(.now - since) }
    }

    /// Jobs without an outcome.
    var lost: [String] { waiting.keys.sorted() }

    /// Number of replies that stand-ins damaged: each appends a byte.
    var replies: Int {
        (try? FileManager.default.attributesOfItem(atPath: folder.file(StandIn.tally))[.size] as? Int) ?? 0
    }

    /// Stops the worker, and lets others work on its log, the last without an index: all must end as they should.
    func end() async throws {
        if worker.isRunning {
            worker.signal(SIGTERM)
            try await check(worker.ended())
        }
        // Lost jobs would keep it running for ever.
        if waiting.isEmpty {
            check(try await idle())
            try FileManager.default.removeItem(atPath: folder.file("data/index"))
            let ended = try await idle()
            check(ended, isRestore: true)
            (rows.kept, rows.leftOutAtRestore) = (try await unreadableRows(), ended.rowsLeftOut)
        }
        try await look(isOver: true)
        await log.close()
    }

    private func idle() async throws -> Ended {
        try await RunningProgram("mezzotint-worker", settings + ["--json", "--until-idle"], in: folder.url).ended()
    }

    private func unreadableRows() async throws -> Int {
        var count = 0
        for number in 0..<Int32(log.partitionCount) {
            var next: Int64 = 0
            while case let batch = try await log.read(.variants, PartitionID(number), from: next, limit: 10_000),
                let last = batch.last
            {
                count += batch.count { !Self.isReadable($0) }
                next = last.offset + 1
            }
        }
        return count
    }

    private func check(_ ended: Ended, isRestore: Bool = false) {
        if !isRestore { rows.leftOut += ended.rowsLeftOut }
        guard ended.status != 0 else { return }
        crashes += 1
        Console.complain("The worker ended with \(ended.status): \(ended.errors.suffix(2_000))")
    }
}

/// Damaged rows of the changelog, and workers' log lines about unreadable ones.
struct RowCounts {
    var published = 0
    var unreadable = 0
    /// Skipped rows, logged as they arrived.
    var leftOut = 0
    /// Unreadable rows that compaction kept, and skipped rows logged while an index was rebuilt from the whole
    /// changelog.
    var kept = 0
    var leftOutAtRestore = 0

    var isGood: Bool { leftOut == unreadable && leftOutAtRestore == kept }
}

extension Ended {
    fileprivate var rowsLeftOut: Int { errors.components(separatedBy: "It is left out; find what wrote it.").count - 1 }
}

struct CampaignFailure: Error, CustomStringConvertible {
    let description: String
}
