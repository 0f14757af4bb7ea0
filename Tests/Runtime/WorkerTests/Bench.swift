import Access
import Canonical
import Clocks
import Digest
import EmbeddedLog
import Foundation
import ImageModel
import Images
import Index
import Jobs
import Origin
import Partition
internal import Permits
import Planning
import Ports
import Posix
import Records
import RendererPool
import Store
import Synchronization
import Telemetry
import TestPixels
import TestSupport
import VariantSpec
import WorkerRuntime

/// A workplace for one test: real adapters in a folder of its own, and an origin on loopback.
final class Bench: Sendable {
    let folder: TemporaryFolder
    let origin: LocalOrigin
    let rules = CanonicalRules()
    private let orders = Mutex<[Int]>([])
    /// How many pictures each render was asked for.
    var ordered: [Int] { orders.withLock { $0 } }

    init(pictures: URL? = nil) throws {
        folder = try TemporaryFolder()
        origin = try LocalOrigin(folder: pictures)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(origin.port)\(path)" }

    var log: EmbeddedLog {
        get throws { try EmbeddedLog(folder.file("log"), EmbeddedLogConfiguration(partitions: 4)) }
    }

    /// Appends jobs as `mezzotint publish` does.
    func publish(_ jobs: [(url: String, variants: [String], lane: Lane)], to log: EmbeddedLog) async throws {
        let intake = Intake(rules: rules)
        let records = try jobs.enumerated().map { number, job in
            try intake.job(
                url: job.url, variants: try job.variants.map { try rules.spec(of: $0) },
                id: "job-\(number)-\(UUID().uuidString)", lane: job.lane
            ).newRecord(partitions: log.partitionCount, at: 0)
        }
        try await append(records, to: log)
    }

    func append(_ records: [NewRecord], to log: EmbeddedLog) async throws {
        for result in await log.append(records) where result.offset == nil { throw LogFailure.closed }
    }

    /// A log with one fast job, whose picture the origin serves at `/a.png`; and its partition.
    func withJob(
        _ answer: (LocalOrigin.Answer) -> LocalOrigin.Answer = { $0 }
    ) async throws -> (log: EmbeddedLog, partition: PartitionID) {
        let picture = Pixels.photograph(width: 90, height: 60, seed: 1).png
        origin.serve("/a.png", answer(.bytes(picture, type: "image/png")))
        let log = try self.log
        try await publish([(url: url("/a.png"), variants: ["32x32.png"], lane: .fast)], to: log)
        return (log, try rules.source(of: url("/a.png")).key.partition(of: log.partitionCount))
    }

    /// Runs a worker until `watching` has returned and nothing is left, and returns its counters.
    ///
    /// - Parameter ahead: of the wall's clock.
    @discardableResult
    func work(
        _ change: (inout WorkerConfiguration) -> Void = { _ in }, renderer: String? = nil,
        log given: EmbeddedLog? = nil,
        moving: MovingLog? = nil,
        fetcher: (any Fetcher) -> any Fetcher = { $0 },
        rendering: (any Renderer) -> any Renderer = { $0 },
        originals: String? = nil,
        storing: (any BlobStore) -> any BlobStore = { $0 },
        indexes: (any VariantIndexes) -> any VariantIndexes = { $0 },
        ahead: Duration = .zero,
        time: (any TimeSource)? = nil,
        sent: SentHeaders = SentHeaders(userAgent: "test"),
        logger: Logger = Logger(level: .error),
        watching: @escaping @Sendable (Worker) async -> Void = { _ in }
    ) async throws -> Counters {
        let log = try given ?? self.log
        let consumer = moving ?? MovingLog(log)
        consumer.isWatched = true
        let pool = RendererPool(
            RendererConfiguration(program: renderer ?? Built.program("mezzotint-renderer").path, count: 2))
        var origin = OriginConfiguration()
        origin.sent = sent
        origin.settings.access.addresses.allow = [AddressRange("127.0.0.0/8")].compactMap { $0 }
        let ports = WorkerPorts(
            log: moving ?? log, consumer: consumer, fetcher: fetcher(GuardedFetcher(origin)),
            renderer: CountingRenderer(inner: rendering(pool)) { count in self.orders.withLock { $0.append(count) } },
            store: storing(try FileStore(root: folder.file("store"), originals: originals)),
            indexes: indexes(SQLiteVariantIndexes(folder.file("index"))), time: time ?? LaterTime(ahead: ahead))
        var configuration = WorkerConfiguration(
            partition: PartitionRules(reuse: ReuseRules(), retry: RetryPolicy(attempts: 3, base: 20, cap: 100)),
            permits: PermitRules(render: 2), canonical: rules, untilIdle: true, seed: 1, owner: "test")
        change(&configuration)
        let worker = Worker(ports, configuration, logger: logger)
        defer { Task { await pool.stop() } }
        async let watched: Void = {
            await watching(worker)
            consumer.isWatched = false
        }()
        try await worker.run()
        await watched
        await log.close()
        return await worker.counters
    }

    /// Every outcome in the log, by job id.
    func outcomes() async throws -> [OutcomeReport] {
        let log = try self.log
        var reports: [OutcomeReport] = []
        for number in 0..<Int32(log.partitionCount) {
            for record in try await log.read(.outcomes, PartitionID(number), from: 0, limit: 100_000)
            where !record.isOfControl {
                reports.append(try OutcomeReport(record))
            }
        }
        await log.close()
        return reports
    }

    /// The changelog's rows of a source, by spec.
    func rows(of source: SourceKey) async throws -> [VariantSpec: VariantRow] {
        var rows: [VariantSpec: VariantRow] = [:]
        for case .variant(let row) in try await changes(of: source) { rows[row.spec] = row }
        return rows
    }

    func sourceRow(of source: SourceKey) async throws -> SourceRow? {
        for case .source(let row) in try await changes(of: source) { return row }
        return nil
    }

    private func changes(of source: SourceKey) async throws -> [IndexChange] {
        let log = try self.log
        let records = try await log.latest(.variants, source.partition(of: 4), keyPrefix: RecordKey.job(source).bytes)
        await log.close()
        return try records.compactMap { if case .change(let change) = try ChangelogEntry($0) { change } else { nil } }
    }
}

/// Says how many pictures each render is asked for.
private struct CountingRenderer: Renderer {
    let inner: any Renderer
    let note: @Sendable (Int) -> Void

    func inspect(_ file: OpenFile) async throws(RenderFailure) -> Picture { try await inner.inspect(file) }

    func isOpaque(_ picture: Picture, origin: String?) async -> Bool {
        await inner.isOpaque(picture, origin: origin)
    }

    func parts(of orders: [RenderOrder], from picture: Picture, isReuse: Bool) -> [[RenderOrder]] {
        inner.parts(of: orders, from: picture, isReuse: isReuse)
    }

    func render(_ picture: Picture, _ orders: [RenderOrder], isReuse: Bool, origin: String?)
        async throws(RenderFailure)
        -> [RenderedVariant]
    {
        note(orders.count)
        return try await inner.render(picture, orders, isReuse: isReuse, origin: origin)
    }
}

/// The machine's clocks, of which the wall's is ahead.
private struct LaterTime: TimeSource {
    let ahead: Duration
    private let system = SystemTimeSource()

    init(ahead: Duration) { self.ahead = ahead }

    var wall: WallTime { system.wall + ahead }
    var monotonic: Instant { system.monotonic }
    func sleep(for duration: Duration) async { await system.sleep(for: duration) }
}
