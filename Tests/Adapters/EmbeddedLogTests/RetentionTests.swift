import Clocks
import EmbeddedLog
import Foundation
import Ports
import Records
import SQLite
import TestSupport
import Testing

@Suite("Embedded log: what is kept, and what goes", .timeLimit(.minutes(1)))
struct RetentionTests {
    let folder: TemporaryFolder
    var path: String { folder.file("log") }

    init() throws { folder = try TemporaryFolder() }

    /// The time of one owner, who commits `committedOffsets` of partition 0 and stops.
    private func own(_ log: EmbeddedLog, _ committedOffsets: [Topic: Int64] = [:]) async throws {
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        for (topic, committed) in committedOffsets { consumer.commit(topic, Bench.p0, below: committed) }
        await consumer.stop()
    }

    @Test("What the committed offset has passed is deleted, also when another owner finds it; the newest record stays")
    func consumed() async throws {
        let log = try EmbeddedLog(path)
        _ = await log.append((0..<20_000).map { Bench.job("\($0)") })
        try await own(log, [.jobsFast: 12_345])
        #expect(try await log.bounds(.jobsFast, Bench.p0) == 12_345..<20_000)
        #expect(try await log.read(.jobsFast, Bench.p0, from: 0, limit: 1).map(Bench.text) == ["12345"])
        try await own(log, [.jobsFast: 20_000])
        #expect(try await log.bounds(.jobsFast, Bench.p0) == 19_999..<20_000)
        #expect(await log.append([Bench.job("next")])[0].offset == 20_000)
        #expect(try await log.committed(.jobsFast, Bench.p0) == 20_000)
        await log.close()
    }

    @Test("Outcomes are kept up to their number, the newest of them")
    func outcomes() async throws {
        let log = try EmbeddedLog(path, EmbeddedLogConfiguration(outcomesKept: 800))
        let records = (0..<1_500).map {
            NewRecord(topic: .outcomes, partition: Bench.p0, key: [1], value: Array("\($0)".utf8))
        }
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        for start in stride(from: 0, to: 1_500, by: 100) { _ = await log.append(Array(records[start..<start + 100])) }
        await consumer.stop()
        #expect(try await log.bounds(.outcomes, Bench.p0) == 1_400..<1_500)
        await log.close()
    }

    @Test("A discarded dead letter is gone, others of its key stay, and the offsets go on")
    func discard() async throws {
        let log = try EmbeddedLog(path)
        let deadLetters = ["a", "b", "c"].map {
            NewRecord(
                topic: .dead, partition: Bench.p0, key: [1], value: Array($0.utf8), headers: [RecordHeader("ce_id", $0)]
            )
        }
        _ = await log.append(deadLetters)
        for name in ["b", "a"] {
            let read = try await log.read(.dead, Bench.p0, from: 0, limit: 10)
            let deadLetter = try #require(read.first { Bench.text($0) == name })
            _ = await log.append([try #require(Bench.discard(deadLetter))])
        }
        let left = try await log.read(.dead, Bench.p0, from: 0, limit: 10)
        #expect(left.filter { $0.value != nil }.map(Bench.text) == ["c"])
        #expect(left.map(\.offset) == [2, 4])
        await log.close()
    }

    private func writeDeadLetters(_ count: Int) async throws {
        let log = try EmbeddedLog(path)
        _ = await log.append(
            (0..<count).map { NewRecord(topic: .dead, partition: Bench.p0, key: [1], value: Array("\($0)".utf8)) })
        await log.close()
    }

    /// Letters were written so many days ago, by offset.
    private func age(_ days: [Int64]) throws {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let file = try Connection(path + "/log.sqlite", .create)
        for (offset, days) in days.enumerated() {
            try file.execute("UPDATE \"dead.0\" SET at = \(now - days * 86_400_000) WHERE offset = \(offset)")
        }
    }

    @Test("Dead letters go once they are old, in whatever order; younger ones stay, and the newest record")
    func deadLetters() async throws {
        try await writeDeadLetters(6)
        func expect(_ left: [Int64], after days: [Int64]) async throws {
            try age(days)
            let log = try EmbeddedLog(path, EmbeddedLogConfiguration(deadLetterLook: 1))
            let consumer = EmbeddedLogConsumer(log)
            try await consumer.start(Ears())
            try await eventually { try await log.read(.dead, Bench.p0, from: 0, limit: 9).map(\.offset) == left }
            await consumer.stop()
            await log.close()
        }
        // The clock was set back between them.
        try await expect([2, 3, 4, 5], after: [91, 91, 89, 91, 89, 1])
        try await expect([5], after: [91, 91, 91, 91, 91, 91])
    }

    @Test("A clock that is wrong for an hour takes no dead letter away, in however many processes")
    func wrongClock() async throws {
        try await writeDeadLetters(3)
        try age([91, 91, 91])
        for _ in 0..<3 {
            let log = try EmbeddedLog(path)
            try await own(log)
            #expect(try await log.read(.dead, Bench.p0, from: 0, limit: 9).map(\.offset) == [0, 1, 2])
            await log.close()
        }
    }

    @Test(
        "Workers that live for less than the time between two looks take old letters away; a look before the machine's start does not count"
    )
    func shortLives() async throws {
        try await writeDeadLetters(3)
        try age([91, 91, 91])
        // Looks are a minute apart here: machines that test may have been started less than an hour ago.
        let looksApart = Duration.minutes(1)
        /// What is left once a worker, of which the last look was so many times that ago, has looked again or has nothing to do.
        func deadLetters(
            _ left: [Int64], afterLook times: Int64?, ofBefore isOld: Bool = false, looks: Bool
        ) async throws {
            let file = try Connection(path + "/log.sqlite", .create)
            if let times { try file.execute("UPDATE looks SET at = at - \(times * looksApart.milliseconds)") }
            if isOld { try file.execute("UPDATE looks SET boot = 'another'") }
            let before = times == nil ? nil : try file.number("SELECT at FROM looks")
            let log = try EmbeddedLog(path, EmbeddedLogConfiguration(deadLetterLook: looksApart))
            let consumer = EmbeddedLogConsumer(log)
            try await consumer.start(Ears())
            if looks {
                try await eventually {
                    try file.number("SELECT 1 FROM sqlite_schema WHERE name = 'looks'") != nil
                        && file.number("SELECT at FROM looks") != before
                }
            }
            try await eventually { try await log.read(.dead, Bench.p0, from: 0, limit: 9).map(\.offset) == left }
            await consumer.stop()
            #expect(try await log.read(.dead, Bench.p0, from: 0, limit: 9).map(\.offset) == left)
            await log.close()
        }
        try await deadLetters([0, 1, 2], afterLook: nil, looks: true)
        try await deadLetters([0, 1, 2], afterLook: 0, looks: false)
        try await deadLetters([0, 1, 2], afterLook: 1, ofBefore: true, looks: true)
        try await deadLetters([0, 1, 2], afterLook: -2, looks: true)
        try await deadLetters([2], afterLook: 1, looks: true)
    }

    @Test("Where the table of dead letters is damaged, all else is written and committed")
    func damagedDeadLetters() async throws {
        try await writeDeadLetters(3)
        try Connection(path + "/log.sqlite", .create).execute("UPDATE \"dead.0\" SET offset = offset - 9")
        let log = try EmbeddedLog(path, EmbeddedLogConfiguration(deadLetterLook: 1))
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        let results = await log.append([Bench.job("a"), Bench.job("b")])
        #expect(results.map(\.offset) == [0, 1])
        consumer.commit(.jobsFast, Bench.p0, below: 2)
        try await eventually { try await log.committed(.jobsFast, Bench.p0) == 2 }
        await consumer.stop()
        await log.close()
    }

    @Test("Tombstones stay while they are young, or not yet folded; then they go")
    func tombstones() async throws {
        func row(_ key: UInt8, _ value: [UInt8]?) -> NewRecord {
            NewRecord(topic: .variants, partition: Bench.p0, key: [key], value: value)
        }
        let young = try EmbeddedLog(path)
        _ = await young.append([row(1, [1]), row(2, [2]), row(1, nil), row(3, [3])])
        try await own(young)
        #expect(try await young.read(.variants, Bench.p0, from: 0, limit: 9).map(\.offset) == [1, 2, 3])
        await young.close()
        // Older than a limit of no time at all; the listener says that it has folded everything.
        let old = try EmbeddedLog(path, EmbeddedLogConfiguration(tombstonesKept: -1))
        try await own(old)
        #expect(try await old.read(.variants, Bench.p0, from: 0, limit: 9).map(\.offset) == [1, 3])
        await old.close()
    }

    @Test("Tombstones of hosts go once they are old, too, but for the newest record")
    func hosts() async throws {
        func row(_ key: UInt8, _ value: [UInt8]?) -> NewRecord {
            NewRecord(topic: .origins, partition: Bench.p0, key: [key], value: value)
        }
        let young = try EmbeddedLog(path)
        _ = await young.append([row(1, [1]), row(2, [2]), row(1, nil), row(3, [3]), row(3, nil)])
        try await own(young)
        #expect(try await young.read(.origins, Bench.p0, from: 0, limit: 9).map(\.offset) == [1, 2, 4])
        await young.close()
        let old = try EmbeddedLog(path, EmbeddedLogConfiguration(tombstonesKept: -1))
        try await own(old)
        #expect(try await old.read(.origins, Bench.p0, from: 0, limit: 9).map(\.offset) == [1, 4])
        await old.close()
    }

    @Test("Neither publishers alone nor a backlog that was worked off leave the disk full")
    func space() async throws {
        let log = try EmbeddedLog(path)
        let large = NewRecord(
            topic: .jobsSlow, partition: Bench.p0, key: [1], value: Array(repeating: 5, count: 1 << 20))
        for _ in 0..<20 { _ = await log.append(Array(repeating: large, count: 8)) }
        #expect(Bench.size(path + "/log.sqlite-wal") < 90 << 20)
        try await own(log, [.jobsSlow: 160])
        #expect(Bench.size(path + "/log.sqlite-wal") == 0)
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        // So much is kept for new records.
        try await eventually { Bench.size(path + "/log.sqlite") < 72 << 20 }
        await consumer.stop()
        #expect(try await log.bounds(.jobsSlow, Bench.p0) == 159..<160)
        await log.close()
    }

    @Test("What a backlog leaves free goes back to the disk beside the work, and no publisher waits long for it")
    func givenBack() async throws {
        let log = try EmbeddedLog(path)
        let large = String(repeating: "x", count: 1 << 20)
        for _ in 0..<10 { _ = await log.append((0..<10).map { _ in Bench.job(large) }) }
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        consumer.commit(.jobsFast, Bench.p0, below: 100)
        let publisher = try EmbeddedLog(path)
        var longest = Duration.zero
        try await eventually {
            let began = ContinuousClock.now
            _ = await publisher.append([Bench.job("small")])
            longest = max(longest, .now - began)
            return Bench.size(path + "/log.sqlite") < 72 << 20
        }
        print("the longest wait of a publisher:", longest)
        #expect(longest < .seconds(2))
        await consumer.stop()
        await publisher.close()
        await log.close()
    }

    @Test("A file from before 0.1.0, which cannot give pages back, is used as it is")
    func old() async throws {
        var log = try EmbeddedLog(path)
        _ = await log.append([Bench.job("kept")])
        await log.close()
        do {
            let file = try Connection(path + "/log.sqlite", .create)
            try file.execute(
                "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM; PRAGMA journal_mode = WAL")
            #expect(try file.number("PRAGMA auto_vacuum") == 0)
        }
        log = try EmbeddedLog(path)
        try await own(log)
        #expect(await log.append([Bench.job("more")])[0].offset == 1)
        #expect(try await log.read(.jobsFast, Bench.p0, from: 0, limit: 9).map(Bench.text) == ["kept", "more"])
        await log.close()
        #expect(try Connection(path + "/log.sqlite", .readOnly).number("PRAGMA auto_vacuum") == 0)
    }
}
