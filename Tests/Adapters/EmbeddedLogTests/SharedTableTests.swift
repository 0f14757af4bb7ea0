import EmbeddedLog
import Ports
import Records
import SQLite
import TestSupport
import Testing

@Suite("Embedded log: tables that several partitions share", .timeLimit(.minutes(1)))
struct SharedTableTests {
    let folder: TemporaryFolder
    var path: String { folder.file("log") }

    init() throws { folder = try TemporaryFolder() }

    private func log(_ partitions: Int, outcomesKept: Int = 100_000) throws -> EmbeddedLog {
        try EmbeddedLog(path, EmbeddedLogConfiguration(partitions: partitions, outcomesKept: outcomesKept))
    }

    private func tables() throws -> Int64? {
        try Connection(path + "/log.sqlite", .readOnly).number(
            "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%.%' AND type = 'table'")
    }

    private func version() throws -> Int64? {
        try Connection(path + "/log.sqlite", .readOnly).number("PRAGMA user_version")
    }

    @Test(
        "A log has 16 tables of each topic at most, and its version says whether partitions share one",
        arguments: [(8, 8, 5), (16, 16, 5), (17, 16, 6), (256, 16, 6)])
    func tables(partitions: Int, perTopic: Int, version: Int64) async throws {
        await (try log(partitions)).close()
        #expect(try tables() == Int64(perTopic * Topic.allCases.count))
        #expect(try self.version() == version)
        let again = try log(8)
        #expect(again.partitionCount == partitions)
        await again.close()
    }

    private static let sharing = [3, 19, 35, 255].map { PartitionID($0) }

    /// The same keys in each partition, with values that name it.
    private static func records(_ topic: Topic, _ count: Int, in partition: PartitionID) -> [NewRecord] {
        (0..<count).map {
            NewRecord(
                topic: topic, partition: partition, key: Array("key \($0)".utf8),
                value: Array("\(partition) \($0)".utf8),
                headers: [RecordHeader("ce_id", "\(partition) \($0)")])
        }
    }

    @Test("Partitions of one table have offsets, bounds, keys and committed offsets of their own")
    func apart() async throws {
        let log = try log(256)
        for topic in [Topic.jobsFast, .variants, .dead] {
            for (number, partition) in Self.sharing.enumerated() {
                let results = await log.append(Self.records(topic, 3 + number, in: partition))
                #expect(results.map(\.offset) == (0..<3 + number).map { Int64($0) })
            }
            for (number, partition) in Self.sharing.enumerated() {
                #expect(try await log.bounds(topic, partition) == 0..<Int64(3 + number))
                let read = try await log.read(topic, partition, from: 1, limit: 100)
                #expect(read.map(Bench.text) == (1..<3 + number).map { "\(partition) \($0)" })
                #expect(read.map(\.offset) == (1..<3 + number).map { Int64($0) })
            }
            #expect(try await log.bounds(topic, PartitionID(51)).isEmpty)
            #expect(try await log.read(topic, PartitionID(51), from: 0, limit: 9).isEmpty)
        }
        let latest = try await log.latest(.variants, PartitionID(19), keyPrefix: Array("key".utf8))
        #expect(latest.map(Bench.text) == (0..<4).map { "19 \($0)" })
        await log.close()
    }

    @Test("What goes of one partition leaves those that share its table as they are")
    func removed() async throws {
        let log = try log(256, outcomesKept: 512)
        for partition in Self.sharing {
            _ = await log.append(
                Self.records(.jobsFast, 5, in: partition) + Self.records(.dead, 2, in: partition)
                    + Self.records(.variants, 2, in: partition))
        }
        let one = PartitionID(19)
        // A newer row, a tombstone that is old, a discarded letter, and too many outcomes.
        let tombstone = NewRecord(topic: .variants, partition: one, key: Array("key 0".utf8), value: nil)
        let deadLetter = try #require(try await log.read(.dead, one, from: 0, limit: 1).first)
        _ = await log.append(
            [tombstone, Self.records(.variants, 2, in: one)[1], try #require(Bench.discard(deadLetter))])
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        _ = await log.append(Self.records(.outcomes, 2, in: PartitionID(3)) + Self.records(.outcomes, 9, in: one))
        consumer.commit(.jobsFast, one, below: 4)
        await consumer.stop()
        #expect(try await log.bounds(.jobsFast, one) == 4..<5)
        #expect(try await log.committed(.jobsFast, one) == 4)
        #expect(try await log.bounds(.outcomes, one) == 7..<9)
        #expect(try await log.latest(.variants, one, keyPrefix: []).map(Bench.text) == ["19 1"])
        #expect(try await log.read(.dead, one, from: 0, limit: 9).map(\.offset) == [1, 2])
        for partition in Self.sharing where partition != one {
            #expect(try await log.bounds(.jobsFast, partition) == 0..<5)
            #expect(try await log.committed(.jobsFast, partition) == nil)
            #expect(try await log.read(.dead, partition, from: 0, limit: 9).count == 2)
            #expect(try await log.latest(.variants, partition, keyPrefix: []).count == 2)
        }
        #expect(try await log.bounds(.outcomes, PartitionID(3)) == 0..<2)
        await log.close()
    }

    @Test("A log of version 4 keeps its shared tables, and the owner's first record raises its version")
    func shared() async throws {
        await (try log(20)).close()
        try Connection(path + "/log.sqlite", .create).execute("PRAGMA user_version = 4")
        let log = try log(20)
        _ = await log.append([Bench.job("19", in: PartitionID(19))])
        #expect(try version() == 4)
        _ = await log.append([Self.packedRow])
        #expect(try version() == 6 && tables() == Int64(16 * Topic.allCases.count))
        await log.close()
        let again = try self.log(20)
        #expect(try await again.read(.jobsFast, PartitionID(19), from: 0, limit: 9).map(Bench.text) == ["19"])
        #expect(
            try await again.read(.variants, PartitionID(19), from: 0, limit: 9).map(\.value) == [Self.packedRow.value])
        await again.close()
    }

    private static let packedRow = NewRecord(
        topic: .variants, partition: PartitionID(19), key: Array("key".utf8),
        value: Array(repeating: UInt8(ascii: "a"), count: 200), headers: [])

    @Test("A log of version 3 keeps a table for each partition, whatever their number")
    func older() async throws {
        await (try log(20)).close()
        // Such a program finds the tables of partitions 16 to 19 missing, and makes them.
        try Connection(path + "/log.sqlite", .create).execute("PRAGMA user_version = 3")
        let log = try log(256)
        #expect(log.partitionCount == 20)
        #expect(try tables() == Int64(20 * Topic.allCases.count))
        _ = await log.append([Bench.job("1", in: PartitionID(1)), Bench.job("17", in: PartitionID(17))])
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        consumer.commit(.jobsFast, PartitionID(17), below: 1)
        await consumer.stop()
        #expect(try await log.read(.jobsFast, PartitionID(17), from: 0, limit: 9).map(Bench.text) == ["17"])
        #expect(
            try Connection(path + "/log.sqlite", .readOnly).number("SELECT count(*) FROM \"jobs.fast.17\"") == 1)
        #expect(try version() == 3)
        await log.close()
    }
}
