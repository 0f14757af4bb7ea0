internal import Canonical
internal import CommandLine
internal import EmbeddedLog
internal import Foundation
internal import ImageModel
internal import Ports
internal import Records
internal import TestSupport
internal import VariantSpec

/// A real worker on a data directory of its own, and what its log says of the jobs that were published to it.
actor Site {
    private let folder: TemporaryFolder
    private let log: EmbeddedLog
    private let intake = Intake(rules: CanonicalRules())
    private let settings: [String]
    private var worker: RunningProgram
    private var next: [PartitionID: Int64] = [:]
    private var waiting: [String: ContinuousClock.Instant] = [:]
    private var done: Set<String> = []

    /// Ends of the worker that nobody asked for.
    private(set) var crashes = 0
    /// By what a job was published for, and how it ended.
    private(set) var ends: [String: [String: Int]] = [:]
    /// Jobs that were answered twice.
    private(set) var repeated = 0
    /// When anything was answered last.
    private(set) var lastAnswer = ContinuousClock.now
    /// How long each innocent job took.
    private(set) var innocent: [Duration] = []

    init(_ more: [String]) async throws {
        folder = try TemporaryFolder()
        settings =
            ([
                "data=data", "log.partitions=4", "log.outcomesKept=10000000", "logging.level=error",
                // Nobody but the campaign's own origins is asked, whatever becomes of a URL.
                "fetch.allow=127.0.0.0/8", "fetch.hosts.allow=127.0.0.0/8,stranger.invalid",
                "fetch.deadlines.dns=300ms",
                "fetch.deadlines.connect=500ms", "fetch.deadlines.firstByte=1s", "fetch.deadlines.whole=2s",
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

    /// Appends records; each of `ids` is answered once, or lost.
    func publish(_ records: [NewRecord], ids: [String]) async throws {
        for id in ids { waiting[id] = .now }
        for result in await log.append(records) where result.offset == nil {
            throw CampaignFailure(description: "The log took no record: \(result)")
        }
    }

    /// Rows of the changelog as they are.
    func rows() async throws -> [Record] {
        var rows: [Record] = []
        for number in 0..<Int32(log.partitionCount) {
            rows += try await log.read(.variants, PartitionID(number), from: 0, limit: 1_000).filter {
                if case .change? = try? ChangelogEntry($0) { true } else { false }
            }
        }
        return rows
    }

    /// Takes note of new outcomes, and starts the worker again if it is gone.
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
        lastAnswer = .now
        let job = outcome.job
        ends["\(job.prefix { $0 != "-" })", default: [:]][outcome.kind.rawValue, default: 0] += 1
        guard let since = waiting.removeValue(forKey: job) else {
            if !done.insert(job).inserted { repeated += 1 }
            return
        }
        done.insert(job)
        if job.hasPrefix("innocent-") { innocent.append(.now - since) }
    }

    /// Jobs that were never answered.
    var lost: [String] { waiting.keys.sorted() }

    /// Stops the worker, and lets another work on what it left: both must end as they should.
    func end() async throws {
        if worker.isRunning {
            worker.signal(SIGTERM)
            try await check(worker.ended())
        }
        // What was lost would keep it for ever.
        if waiting.isEmpty {
            let another = try RunningProgram("mezzotint-worker", settings + ["--json", "--until-idle"], in: folder.url)
            try await check(another.ended())
        }
        try await look(isOver: true)
        await log.close()
    }

    private func check(_ ended: Ended) {
        guard ended.status != 0 else { return }
        crashes += 1
        Console.complain("The worker ended with \(ended.status): \(ended.errors.suffix(2_000))")
    }
}

struct CampaignFailure: Error, CustomStringConvertible {
    let description: String
}
