import Canonical
import EmbeddedLog
import Foundation
import ImageModel
import Partition
internal import Permits
import Ports
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("A partition that goes and comes back to the same worker", .timeLimit(.minutes(2)))
struct ReturningTests {
    @Test("Answers that were refused meanwhile are not given in the new ownership, which gives its own")
    func answers() async throws {
        let bench = try Bench()
        let (log, partition) = try await bench.withJob()
        let once = Mutex<MovingLog?>(nil)
        let moving = MovingLog(log) { records in
            guard records.contains(where: { $0.topic == .outcomes }) else { return nil }
            // Once: what comes after it is appended.
            guard let moving = once.withLock({ $0.take() }) else { return nil }
            await #expect(throws: Never.self) { try await moving.moveAndReturn(partition, epoch: 1_000) }
            return .unavailable(reason: "the leader went")
        }
        once.withLock { $0 = moving }
        try await bench.work(log: log, moving: moving)
        #expect(try await bench.outcomes().count == 1)
    }

    /// A log with a job whose fetch waits at the gate, and behind it a record that is answered at once; their partition.
    private static func aheadOfAJob(_ bench: Bench, _ gate: Gate) async throws -> (EmbeddedLog, PartitionID) {
        let (log, partition) = try await bench.withJob { .gated(gate, $0) }
        let source = try bench.rules.source(of: bench.url("/a.png")).key
        try await bench.append([noJob(source, partition)], to: log)
        return (log, partition)
    }

    @Test("What was answered ahead of an unfinished job is not answered again, and the committable offset passes it")
    func answeredAhead() async throws {
        let (bench, gate) = (try Bench(), Gate())
        let (log, partition) = try await Self.aheadOfAJob(bench, gate)
        let deadLetters = Mutex(0)
        let moving = MovingLog(log) { records in
            if records.contains(where: { $0.topic == .dead }) { deadLetters.withLock { $0 += 1 } }
            return nil
        }
        try await bench.work(
            log: log, moving: moving,
            watching: { worker in
                await #expect(throws: Never.self) {
                    try await eventually { await worker.status.finishedAhead[.jobsFast] == 1 }
                    let offsets = try await log.partitionOffsets([.jobsFast], [partition])[0]
                    let unfinished = await worker.status.unfinished(offsets)
                    #expect(offsets.records == 2 && unfinished == 1)
                    try await moving.moveAndReturn(partition, epoch: 1_000)
                    gate.open()
                    try await eventually { try await log.committed(.jobsFast, partition) == 2 }
                }
            })
        #expect(deadLetters.withLock { $0 } == 1)
        #expect(try await bench.outcomes().map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.dead, .stored])
    }

    @Test("What the last owner left is not lost with an ownership that ends before its fence")
    func beforeFence() async throws {
        let (bench, gate) = (try Bench(), Gate())
        let (log, partition) = try await Self.aheadOfAJob(bench, gate)
        // Only its progress row tells that the second job is answered.
        let killed = MovingLog(log)
        await #expect(throws: LogFailure.closed) {
            try await bench.work(
                log: log, moving: killed,
                watching: { _ in
                    await #expect(throws: Never.self) {
                        try await eventually {
                            let key = RecordKey.progress(partition).bytes
                            let record = try await log.latest(.variants, partition, keyPrefix: key).first
                            guard case .progress(let row)? = try record.map({ try ChangelogEntry($0) }) else {
                                return false
                            }
                            return row.topics[.jobsFast]?.finished == [1] && row.answers?[.outcomes] == 1
                        }
                    }
                    await killed.kill()
                })
        }
        gate.open()

        // There is no fence before the store is there again.
        let (store, away) = (bench.folder.file("store"), bench.folder.file("away"))
        try FileManager.default.moveItem(atPath: store, toPath: away)
        let again = try bench.log
        let moving = MovingLog(again)
        try await bench.work(
            log: again, moving: moving,
            watching: { worker in
                await #expect(throws: Never.self) {
                    try await eventually { await (worker.counters.failures["store.mismatched"] ?? 0) > 0 }
                    try await moving.moveAndReturn(partition, epoch: 1_000)
                    try FileManager.default.removeItem(atPath: store)
                    try FileManager.default.moveItem(atPath: away, toPath: store)
                }
            })
        #expect(try await bench.outcomes().map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.dead, .stored])
    }

    @Test("What is answered while its topic's log may be another one is committed once it is known to be the same")
    func suspected() async throws {
        let bench = try Bench()
        let gate = Gate()
        let picture = LocalOrigin.Answer.bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png")
        bench.origin.serve("/a.png", .gated(gate, picture))
        let log = try bench.log
        try await bench.publish([(url: bench.url("/a.png"), variants: ["32x32.png"], lane: .fast)], to: log)
        let partition = try bench.rules.source(of: bench.url("/a.png")).key.partition(of: log.partitionCount)
        let moving = MovingLog(log)
        try await bench.work(
            log: log, moving: moving,
            watching: { worker in
                await #expect(throws: Never.self) {
                    try await eventually { bench.origin.requestCount == 1 }
                    await moving.fail(.jobsFast, partition)
                    gate.open()
                    try await eventually { await worker.counters.jobs == 1 }
                    // What is told of the answer is decided before the worker can be asked again.
                    #expect(await worker.isQuiet == false && moving.highestCommit == 0)
                    await moving.fail(nil, partition)
                    try await eventually { try await log.committed(.jobsFast, partition) == 1 }
                }
            })
    }

    private static func noJob(_ source: SourceKey, _ partition: PartitionID) -> NewRecord {
        NewRecord(
            topic: .jobsFast, partition: partition, key: RecordKey.job(source).bytes, value: Array("no job".utf8))
    }

    @Test("Its fetch is cancelled, and the permit is another's only when it has ended")
    func fetch() async throws {
        let bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        let log = try bench.log
        try await bench.publish([(url: bench.url("/a.png"), variants: ["32x32.png"], lane: .fast)], to: log)
        let source = try bench.rules.source(of: bench.url("/a.png")).key
        let partition = source.partition(of: log.partitionCount)
        // Answered without a fetch, once the job before it has asked for its permit.
        try await bench.append([Self.noJob(source, partition)], to: log)
        let (told, moved, ended) = (Gate(), Gate(), Gate())
        let deadLetters = Mutex(0)
        let moving = MovingLog(log) { records in
            guard records.contains(where: { $0.topic == .dead }) else { return nil }
            // Each ownership answers it: of the first the log takes nothing any more.
            let isFirst =
                deadLetters.withLock {
                    $0 += 1
                    return $0
                } == 1
            (isFirst ? told : ended).open()
            if isFirst { await moved.wait() }
            return isFirst ? .unavailable(reason: "the test says so") : nil
        }
        let fetcher = Mutex<StubbornFetcher?>(nil)
        try await bench.work(
            { $0.permits.fetch = 1 }, log: log, moving: moving,
            fetcher: { inner in
                let stubborn = StubbornFetcher(inner, until: ended) {
                    await told.wait()
                    await #expect(throws: Never.self) { try await moving.moveAndReturn(partition, epoch: 1_000) }
                    moved.open()
                }
                fetcher.withLock { $0 = stubborn }
                return stubborn
            })
        let counts = try #require(fetcher.withLock { $0 }?.counts)
        #expect(counts.begun == 2 && counts.most == 1 && counts.cancelled == 1)
        #expect(try await bench.outcomes().count { $0.kind == .stored } == 1)
    }
}

/// Its first fetch hears that it is cancelled, and takes its time to end.
private final class StubbornFetcher: Fetcher {
    struct Counts {
        var (begun, running, most, cancelled) = (0, 0, 0, 0)
    }
    private let inner: any Fetcher
    private let ended: Gate
    private let begin: @Sendable () async -> Void
    private let state = Mutex(Counts())
    var counts: Counts { state.withLock { $0 } }

    /// `begin` is done once the first fetch has begun; it ends when it was cancelled and `ended` is open.
    init(_ inner: any Fetcher, until ended: Gate, _ begin: @escaping @Sendable () async -> Void) {
        (self.inner, self.ended, self.begin) = (inner, ended, begin)
    }

    func fetch(
        _ request: FetchRequest, nearlyDone: @escaping @Sendable () -> Void
    ) async throws(FetchFailure) -> FetchResponse {
        let number = state.withLock { state in
            state.begun += 1
            state.running += 1
            state.most = max(state.most, state.running)
            return state.begun
        }
        defer { state.withLock { $0.running -= 1 } }
        guard number == 1 else { return try await inner.fetch(request, nearlyDone: nearlyDone) }
        await begin()
        // Never opened: only being cancelled ends the wait.
        await Gate().wait()
        state.withLock { $0.cancelled += 1 }
        let ended = self.ended
        await Task { await ended.wait() }.value
        throw .cancelled
    }
}
