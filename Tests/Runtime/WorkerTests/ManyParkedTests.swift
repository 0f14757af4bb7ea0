import Canonical
import Clocks
import EmbeddedLog
import Failures
import ImageModel
import Partition
import Ports
import Records
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("Many jobs that are not due", .timeLimit(.minutes(2)))
struct ManyParkedTests {
    private static let due = SystemTimeSource().wall + .hours(1)

    private static func note(_ id: String, _ origin: RecordOrigin) -> RetryNote {
        RetryNote(
            job: id, lane: .slow, attempt: 1, notBefore: due, firstSeen: 100,
            cause: FailureNote(code: "fetch.server-error", message: "m", verdict: .retry), origin: origin)
    }

    @Test("Twenty thousand parked jobs are not taken up, and hold no other job back")
    func parked() async throws {
        let bench = try Bench()
        let picture = Pixels.photograph(width: 40, height: 30, seed: 1).png
        bench.origin.serve("/a.png", .bytes(picture, type: "image/png"))
        try await bench.work()
        let log = try bench.log
        let url = bench.url("/waits.png")
        let source = try bench.rules.source(of: url).key
        let partition = source.partition(of: 4)
        let epoch = try await log.read(.parked, partition, from: 0, limit: 1_000).compactMap {
            if case .epoch(let row) = try ParkedEntry($0) { row.epoch } else { nil }
        }.max()
        let rows = (0..<Int64(20_000)).map { number -> NewRecord in
            let first = CompletedRecord(
                Record(
                    topic: .jobsSlow, partition: partition, offset: number, timestamp: 1_000, key: [], value: [],
                    headers: []))
            let row = ParkedRow(
                source, .record(first),
                Self.note("job-\(number)", RecordOrigin(topic: .jobsSlow, partition: partition, offset: number)),
                host: OriginHost(of: url), worksAs: .slow, body: Array(#"{"url":"\#(url)","variants":["8x8.png"]}"#.utf8))
            return row.newRecord(partition: partition, at: 1).announced(in: epoch ?? 0)
        }
        try await bench.append(rows, to: log)
        try await bench.publish([(url: bench.url("/a.png"), variants: ["16x16.png"], lane: .fast)], to: log)
        let counters = try await bench.work(
            { $0.untilIdle = false }, log: log,
            watching: { worker in
                try? await eventually {
                    let status = await worker.status
                    return status.counters.jobs == 1 && status.parked[partition]?.jobs == 20_000
                }
                #expect(await worker.status.unfinished.values.allSatisfy { $0 == 0 })
                await worker.drain()
            })
        #expect(counters.jobs == 1 && bench.origin.requests(of: "/waits.png") == 0)
        #expect(try await bench.parkedRecords().count == 20_000)
    }

    @Test("Jobs in the retry topics of an earlier version are parked at once, with their attempts")
    func retryTopics() async throws {
        let bench = try Bench()
        bench.origin.serve(
            "/a.png", .bytes(Pixels.photograph(width: 40, height: 30, seed: 1).png, type: "image/png"))
        let source = try bench.rules.source(of: bench.url("/a.png")).key
        let partition = source.partition(of: 4)
        let body = Array(#"{"url":"\#(bench.url("/a.png"))","variants":["8x8.png"]}"#.utf8)
        let records = Topic.retries.enumerated().map { number, topic in
            Self.note(
                topic.rawValue, RecordOrigin(topic: .jobsSlow, partition: partition, offset: Int64(number))
            ).newRecord(topic: topic, key: RecordKey.job(source).bytes, body: body, partition: partition, at: 1)
        }
        let log = try bench.log
        try await bench.append(records, to: log)
        let counters = try await bench.work({ $0.patience = .seconds(1) }, log: log)
        #expect(counters.jobs == 0 && bench.origin.requestCount == 0)
        let rows = try await bench.parkedRecords().compactMap {
            if case .change(.park(let row, _)) = try ParkedEntry($0) { row } else { nil }
        }
        #expect(Set(rows.map(\.note.job)) == Set(Topic.retries.map(\.rawValue)))
        for row in rows {
            #expect(row.note.attempt == 1 && row.note.lane == .slow && row.note.firstSeen == 100)
            #expect(row.note.notBefore == Self.due && row.body == body)
        }
        let left = try bench.log
        for topic in Topic.retries { #expect(try await left.committed(topic, partition) == 1, "\(topic)") }
        await left.close()
    }
}
