import Canonical
import Digest
import EmbeddedLog
import Failures
import ImageModel
import Jobs
import Partition
import Ports
import Records
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("Answers that the log finds too large", .timeLimit(.minutes(2)))
struct SmallOutcomeTests {
    /// The worker's records are refused above a limit, as Kafka's topics do; what others append is not.
    private func work(_ bench: Bench, limit: Int, on topics: Set<Topic> = Set(Topic.allCases)) async throws -> Counters {
        let log = try bench.log
        let moving = MovingLog(
            log,
            refusing: { record in
                let bytes = record.byteCount
                return bytes > limit && topics.contains(record.topic)
                    ? .tooLarge(topic: record.topic, bytes: bytes, limit: limit) : nil
            })
        return try await bench.work(
            { $0.partition.retry = RetryPolicy(attempts: 2, base: 20, cap: 20) }, log: log, moving: moving)
    }

    private func deadLetters(_ bench: Bench) async throws -> [DeadLetter] {
        let log = try bench.log
        var deadLetters: [DeadLetter] = []
        for number in 0..<Int32(log.partitionCount) {
            deadLetters += DeadLetter.standing(try await log.read(.dead, PartitionID(number), from: 0, limit: 100)).deadLetters
        }
        await log.close()
        return deadLetters
    }

    private func append(_ bench: Bench, _ record: NewRecord) async throws {
        let log = try bench.log
        try await bench.append([record], to: log)
        await log.close()
    }

    private func job(_ bench: Bench, _ path: String, variants: [String] = ["16x16.png"]) throws -> Job {
        try Intake(rules: bench.rules).job(
            url: bench.url(path), variants: try variants.map { try bench.rules.spec(of: $0) }, id: "job", lane: .fast)
    }

    @Test(
        "A record with a key of 3 MB that is no job: its dead letter and its outcome have a small key that leads to it")
    func poison() async throws {
        let bench = try Bench()
        let key = [UInt8](repeating: 0x61, count: 3_000_000)
        try await append(
            bench, NewRecord(topic: .jobsFast, partition: PartitionID(2), key: key, value: Array("none".utf8)))
        let counters = try await work(bench, limit: 2 << 20)
        #expect(counters.dead == 1 && counters.failures.isEmpty)
        let deadLetter = try #require(try await deadLetters(bench).first)
        #expect(deadLetter.wholeKey == DeadLetter.Whole(bytes: key.count, digest: SHA256.digest(of: key)))
        #expect(deadLetter.body == Array("none".utf8) && deadLetter.origin.partition == PartitionID(2))
        #expect(try await bench.outcomes().map(\.job) == ["jobs.fast-2-0"])
    }

    @Test("A job with a key of 3 MB in its source's own partition is put off under its source's key, and is stored")
    func retried() async throws {
        let bench = try Bench()
        bench.origin.serve("/a.png", .status(503))
        let job = try job(bench, "/a.png")
        var record = job.newRecord(partitions: 4, at: 0)
        record.key = [UInt8](repeating: 0x61, count: 3_000_000)
        try await append(bench, record)
        let counters = try await work(bench, limit: 2 << 20)
        #expect(counters.retries == 1 && counters.dead == 1 && counters.failures == ["fetch.server-error": 2])
        #expect(try await deadLetters(bench).map(\.cause.code) == ["fetch.server-error"])
    }

    @Test("A job of another partition with headers of 3 MB is appended again with those that mean something")
    func rekeyed() async throws {
        let bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 40, height: 30, seed: 1).png, type: "image/png"))
        let job = try job(bench, "/a.png")
        var record = job.newRecord(partitions: 4, at: 0)
        record.partition = PartitionID((record.partition.number + 1) % 4)
        record.headers.append(RecordHeader("theirs", [UInt8](repeating: 0x61, count: 3_000_000)))
        try await append(bench, record)
        let counters = try await work(bench, limit: 2 << 20)
        #expect(counters.jobs == 1 && counters.stored == 1 && counters.failures.isEmpty)
        #expect(try await bench.outcomes().map(\.job) == ["job"])
    }

    @Test("An outcome that a topic finds too large says what became of the job, and how many variants it leaves out")
    func outcome() async throws {
        let bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        let job = try job(bench, "/a.png", variants: (8..<72).map { "\($0)x\($0).png" })
        try await append(bench, job.newRecord(partitions: 4, at: 0))
        let counters = try await work(bench, limit: 16 << 10, on: [.outcomes])
        #expect(counters.jobs == 1 && counters.stored == 64 && counters.failures == ["log.too-large": 1])
        let report = try #require(try await bench.outcomes().first)
        #expect(report.kind == .stored && report.variants.isEmpty && report.omitted == 64 && report.job == "job")
    }

    @Test(
        "A job that cannot be appended again is dead, with the beginning of its bytes",
        arguments: [Topic.parked, .jobsFast])
    func again(topic: Topic) async throws {
        let bench = try Bench()
        bench.origin.serve("/a.png", .status(503))
        let job = try job(bench, "/a.png")
        var record = job.newRecord(partitions: 4, at: 0)
        record.value = job.body + [UInt8](repeating: 0x20, count: 30_000)
        if topic == .jobsFast { record.partition = PartitionID((record.partition.number + 1) % 4) }
        try await append(bench, record)
        let counters = try await work(bench, limit: 16 << 10)
        #expect(counters.jobs == 1 && counters.dead == 1)
        let deadLetter = try #require(try await deadLetters(bench).first)
        #expect(deadLetter.cause.code == "log.too-large" && deadLetter.id == "job" && deadLetter.url == job.url.shown)
        #expect(deadLetter.key == RecordKey.job(job.source).bytes && deadLetter.body == record.value!.prefix(4_096).map { $0 })
        #expect(deadLetter.whole == DeadLetter.Whole(bytes: record.value!.count, digest: SHA256.digest(of: record.value!)))
        let report = try #require(try await bench.outcomes().first)
        #expect(report.kind == .dead && report.source == job.source && report.failure?.code == "log.too-large")
    }

    @Test("The dead letter of a large body is cut where its topic finds it too large")
    func deadLetter() async throws {
        let bench = try Bench()
        let body = [UInt8](repeating: 0x7B, count: 60_000)
        try await append(bench, NewRecord(topic: .jobsSlow, partition: PartitionID(0), key: [], value: body))
        let counters = try await work(bench, limit: 16 << 10)
        #expect(counters.dead == 1)
        let deadLetter = try #require(try await deadLetters(bench).first)
        #expect(deadLetter.body.count == 4_096)
        #expect(deadLetter.whole == DeadLetter.Whole(bytes: body.count, digest: SHA256.digest(of: body)))
    }
}
