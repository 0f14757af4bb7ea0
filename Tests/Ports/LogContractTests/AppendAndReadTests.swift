import Clocks
import Failures
import ImageModel
import Ports
import Records
import TestSupport
import Testing

@Suite("Log: appending, and reading from outside", .timeLimit(.minutes(2)))
struct AppendAndReadTests {
    static let p0 = PartitionID(0)
    static let p3 = PartitionID(3)

    static func record(
        _ topic: Topic, in partition: PartitionID = p0, key: String = "k", _ value: String?,
        _ headers: RecordHeaders = []
    ) -> NewRecord {
        NewRecord(
            topic: topic, partition: partition, key: Array(key.utf8), value: value.map { Array($0.utf8) },
            headers: headers)
    }

    @Test(
        "What is appended is read back whole and in order, offsets from 0 for each topic and partition",
        arguments: LogBench.all)
    func order(bench: LogBench) async throws {
        let log = try await bench.open("order").log
        let records = (0..<100).map {
            Self.record(
                $0 % 2 == 0 ? .jobsFast : .jobsSlow, in: $0 % 3 == 0 ? Self.p0 : Self.p3, key: "k\($0)", "v\($0)")
        }
        let results = await log.append(records)
        #expect(results.allSatisfy { $0.offset != nil })
        for (topic, partition) in [
            (Topic.jobsFast, Self.p0), (.jobsFast, Self.p3), (.jobsSlow, Self.p0), (.jobsSlow, Self.p3),
        ] {
            let sent = records.filter { $0.topic == topic && $0.partition == partition }
            let read = try await log.read(topic, partition, from: 0, limit: 1_000)
            #expect(read.map(\.value) == sent.map(\.value))
            #expect(read.map(\.key) == sent.map(\.key))
            #expect(read.first?.offset == 0)
            #expect(zip(read, read.dropFirst()).allSatisfy { $0.offset < $1.offset && $0.timestamp <= $1.timestamp })
            let bounds = try await log.bounds(topic, partition)
            #expect(bounds.upperBound > (read.last?.offset ?? .max))
        }
        #expect(try await log.bounds(.retry, Self.p0) == 0..<0)
        await log.close()
    }

    @Test("The age of retried jobs is that of the oldest, wherever it stands", arguments: LogBench.all)
    func retriedAge(bench: LogBench) async throws {
        let log = try await bench.open("age").log
        let retries = [9_000, 5_000, 7_000].map { (seen: WallTime) in
            RetryNote(
                job: "j", lane: .fast, attempt: 1, notBefore: 0, firstSeen: seen,
                cause: FailureNote(code: "fetch.status", message: "No.", verdict: .retry),
                origin: RecordOrigin(topic: .jobsFast, partition: Self.p0, offset: 1)
            ).newRecord(topic: .retry1m, key: [1], body: [], partition: Self.p0, at: 9_000)
        }
        #expect(await log.append(retries).allSatisfy { $0.offset != nil })
        let lags = try await log.lags(try await log.partitionOffsets([.retry1m], [Self.p0]))
        #expect(lags.map(\.oldest) == [5_000])
        await log.close()
    }

    @Test("Headers keep their order, repeats and bytes; a tombstone is no empty value", arguments: LogBench.all)
    func headers(bench: LogBench) async throws {
        let log = try await bench.open("headers").log
        let headers: RecordHeaders = [
            RecordHeader("ce_id", "42"), RecordHeader("raw", [0, 255, 10]), RecordHeader("raw", []),
            RecordHeader("ce_id", String(repeating: "å", count: 300)),
        ]
        _ = await log.append([
            Self.record(.control, "", headers), Self.record(.control, nil, []), Self.record(.control, "v", []),
        ])
        let read = try await log.read(.control, Self.p0, from: 0, limit: 10)
        #expect(read.map(\.headers) == [headers, [], []])
        #expect(read.map(\.value) == [[], nil, [118]])
        await log.close()
    }

    /// What the log does not tell the place of is appended once more, as publishers and workers do. Returns offsets.
    private static func append(_ records: [NewRecord], to log: any Log) async -> [Int64] {
        var (left, offsets): ([NewRecord], [Int64]) = (records, [])
        while !left.isEmpty {
            let results = await log.append(left)
            offsets += results.compactMap(\.offset)
            left = zip(left, results).filter { $1.offset == nil }.map(\.0)
        }
        return offsets
    }

    @Test(
        "A record of one megabyte passes, and a read of many such ends early but never empty", arguments: LogBench.all)
    func large(bench: LogBench) async throws {
        let log = try await bench.open("large").log
        let large = NewRecord(
            topic: .jobsSlow, partition: Self.p0, key: [1], value: Array(repeating: 9, count: 1 << 20))
        let records = (0..<12).map { number in
            var record = large
            record.value?[0] = UInt8(number)
            return record
        }
        let acknowledged = try #require(await Self.append(records, to: log).max()) + 1
        #expect(try await log.bounds(.jobsSlow, Self.p0).upperBound == acknowledged)
        var (offsets, found): ([Int64], Set<UInt8>) = ([], [])
        while true {
            let read = try await log.read(.jobsSlow, Self.p0, from: (offsets.last ?? -1) + 1, limit: 100)
            if read.isEmpty { break }
            #expect(read.allSatisfy { $0.value?.count == 1 << 20 })
            offsets += read.map(\.offset)
            found.formUnion(read.compactMap { $0.value?.first })
        }
        #expect(offsets == Array(0..<acknowledged) && found == Set(0..<12))
        await log.close()
    }

    @Test(
        "Of folded topics only the newest record of a key stays, a tombstone too; latest leaves tombstones out",
        arguments: LogBench.all, Topic.folded)
    func compaction(bench: LogBench, topic: Topic) async throws {
        let log = try await bench.open("compaction-\(topic.rawValue)").log
        for round in 0..<5 {
            _ = await log.append((0..<20).map { Self.record(topic, key: "a/\($0)", "round \(round)") })
        }
        _ = await log.append([
            Self.record(topic, key: "a/7", nil), Self.record(topic, key: "b/1", "other"),
            Self.record(topic, key: "a", "source"),
        ])
        let latest = try await log.latest(topic, Self.p0, keyPrefix: Array("a/".utf8))
        #expect(latest.count == 19)
        #expect(latest.allSatisfy { $0.value == Array("round 4".utf8) })
        let source = try await log.latest(topic, Self.p0, keyPrefix: Array("a".utf8))
        #expect(source.count == 20)
        // The tail is never compacted away: the newest record, and what a reader from the end has yet to see.
        let bounds = try await log.bounds(topic, Self.p0)
        #expect(try await log.read(topic, Self.p0, from: bounds.upperBound - 1, limit: 10).map(\.key) == [[97]])
        await log.close()
    }

    @Test("The newest progress row is found behind other rows; nil where there is none", arguments: LogBench.all)
    func newestProgress(bench: LogBench) async throws {
        let log = try await bench.open("progress").log
        #expect(try await log.newestProgress(of: Self.p3) == nil)
        let rows = (1...3 as ClosedRange<Int64>).map { number in
            let topics: [Topic: TopicProgress] = [.jobsFast: TopicProgress(next: number, finished: [number + 2])]
            return ProgressRow(partition: Self.p3, topics: topics, at: WallTime(milliseconds: number))
        }
        _ = await log.append(
            rows.map { $0.newRecord() } + (0..<20).map { Self.record(.variants, in: Self.p3, key: "a/\($0)", "row") })
        #expect(try await log.newestProgress(of: Self.p3) == rows[2])
        #expect(try await log.newestProgress(of: Self.p0) == nil)
        await log.close()
    }

    @Test("Appends of many tasks at once are all acknowledged, at offsets that the log has", arguments: LogBench.all)
    func manyTasks(bench: LogBench) async throws {
        let log = try await bench.open("many").log
        let offsets = await withTaskGroup(of: [Int64].self) { group in
            for task in 0..<200 {
                group.addTask {
                    await Self.append((0..<5).map { Self.record(.outcomes, key: "\(task)", "\($0)") }, to: log)
                }
            }
            return await group.reduce(into: [Int64]()) { $0 += $1 }
        }
        #expect(offsets.count == 1_000)
        #expect(Set(offsets).count == 1_000)
        let read = try await log.read(.outcomes, Self.p0, from: 0, limit: 9_000)
        #expect(Set(read.map(\.offset)).isSuperset(of: offsets))
        #expect(Set(read.map { $0.key + [0] + ($0.value ?? []) }).count == 1_000)
        await log.close()
    }

    @Test("A partition that the log has not is refused alone; the records beside it go in", arguments: LogBench.all)
    func foreignPartition(bench: LogBench) async throws {
        let log = try await bench.open("foreign").log
        let results = await log.append([
            Self.record(.retry, "a"), Self.record(.retry, in: PartitionID(4_000), "b"),
            Self.record(.retry, in: PartitionID(-1), "c"),
            Self.record(.retry, "d"),
        ])
        #expect(results.map { $0.offset != nil } == [true, false, false, true])
        await #expect(throws: LogFailure.self) { try await log.bounds(.retry, PartitionID(4_000)) }
        await log.close()
    }

    @Test("A closed log refuses appends and reads", arguments: LogBench.all)
    func closed(bench: LogBench) async throws {
        let log = try await bench.open("closed").log
        _ = await log.append([Self.record(.retry, "a")])
        await log.close()
        #expect(await log.append([Self.record(.retry, "a")]) == [.refused(.closed)])
        await #expect(throws: LogFailure.closed) { try await log.bounds(.retry, Self.p0) }
    }
}
