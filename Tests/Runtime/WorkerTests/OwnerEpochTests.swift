import Canonical
import Digest
import EmbeddedLog
import Foundation
import ImageModel
import Ports
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("A late record of an owner whose time is over", .timeLimit(.minutes(2)))
struct OwnerEpochTests {
    @Test("Counts for nobody, and what holds is appended once more, so that compaction keeps that")
    func zombie() async throws {
        let bench = try Bench()
        let (job, row) = try await Self.lateRecord(at: bench)

        // Whoever owns it after that.
        try await bench.work()
        #expect(try await bench.rows(of: row.source)[row.spec] == row)
        let again = try bench.log
        try await bench.publish(job, to: again)
        let counters = try await bench.work(log: again)
        #expect(counters.unchanged == 1 && counters.requests == 0)
    }

    @Test("Counts for nobody either where its finder is killed before it appended what holds")
    func killed() async throws {
        let bench = try Bench()
        let (job, row) = try await Self.lateRecord(at: bench)
        let log = try bench.log
        let partition = row.source.partition(of: log.partitionCount)
        let worker = Mutex<MovingLog?>(nil)
        let moving = MovingLog(log) { records in
            // The first word in its own time is what holds, with the mark: it comes when all is folded.
            guard records.contains(where: { $0.topic == .variants && $0.partition == partition }) else { return nil }
            await worker.withLock { $0 }?.kill()
            return .closed
        }
        worker.withLock { $0 = moving }
        await #expect(throws: LogFailure.closed) { try await bench.work(log: log, moving: moving) }

        try await bench.work()
        #expect(try await bench.rows(of: row.source)[row.spec] == row)
        // An index that begins with nothing counts the same.
        try FileManager.default.removeItem(atPath: bench.folder.file("index"))
        let again = try bench.log
        try await bench.publish(job, to: again)
        let counters = try await bench.work(log: again)
        #expect(counters.unchanged == 1 && counters.requests == 0)
    }

    @Test("An owner that reads a later owner's fence gives its partition up, and answers nothing of what it announced")
    func outlived() async throws {
        let bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        let log = try bench.log
        try await bench.publish([(url: bench.url("/a.png"), variants: ["32x32.png"], lane: Lane.fast)], to: log)
        let partition = try bench.rules.source(of: bench.url("/a.png")).key.partition(of: log.partitionCount)
        let isFenced = Mutex(false)
        let moving = MovingLog(log) { records in
            guard records.contains(where: { if case .variant = RecordKey($0.key) { true } else { false } }),
                let epoch = records[0].headers[EventHeader.epoch].flatMap({ Int64(String(decoding: $0, as: UTF8.self)) }
                ),
                isFenced.withLock({ isFenced in
                    defer { isFenced = true }
                    return !isFenced
                })
            else { return nil }
            let fence = EpochRow(partition: partition, epoch: epoch + 1, owner: "next", isClean: false, at: 0)
            _ = await log.append([fence.newRecord().announced(in: epoch + 1)])
            return nil
        }
        let counters = try await bench.work(log: log, moving: moving)
        #expect(isFenced.withLock { $0 } && counters.jobs == 0)
        #expect(try await bench.outcomes().isEmpty)
        try await bench.work()
        #expect(try await bench.outcomes().map(\.kind) == [.stored])
    }

    /// A source's row as its owner stored it, and after it another word on it, which that owner said when a later one's
    /// time had begun.
    private static func lateRecord(
        at bench: Bench
    ) async throws -> (job: [(url: String, variants: [String], lane: Lane)], row: VariantRow) {
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        let job = [(url: bench.url("/a.png"), variants: ["32x32.png"], lane: Lane.fast)]
        let log = try bench.log
        try await bench.publish(job, to: log)
        try await bench.work(log: log)
        let source = try bench.rules.source(of: bench.url("/a.png")).key
        let spec = try bench.rules.spec(of: "32x32.png")
        let row = try #require(try await bench.rows(of: source)[spec])

        // The owner of a later epoch begins; then the first one's word comes.
        let between = try bench.log
        let partition = source.partition(of: between.partitionCount)
        let epoch = try #require(try await newest(in: between, partition)) + 1
        let begun = EpochRow(partition: partition, epoch: epoch, owner: "next", isClean: false, at: 0).newRecord()
        var late = row
        late.location = "nowhere"
        try await bench.append(
            [begun.announced(in: epoch), late.newRecord(partition: partition).announced(in: epoch - 1)], to: between)
        await between.close()
        return (job, row)
    }

    private static func newest(in log: EmbeddedLog, _ partition: PartitionID) async throws -> Int64? {
        let records = try await log.latest(.variants, partition, keyPrefix: RecordKey.epoch(partition).bytes)
        guard case .epoch(let row)? = try records.first.map({ try ChangelogEntry($0) }) else { return nil }
        return row.epoch
    }
}
