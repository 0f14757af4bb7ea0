import EmbeddedLog
import Failures
import Foundation
import Glibc
import Ports
import Records
import Synchronization
import TestSupport
import Testing

@Suite("Embedded log: a full disk, a damaged file, a wrong folder", .timeLimit(.minutes(1)))
struct TroubleTests {
    let folder: TemporaryFolder
    var path: String { folder.file("log") }

    init() throws { folder = try TemporaryFolder() }

    private static func large(_ bytes: Int) -> NewRecord {
        NewRecord(topic: .jobsFast, partition: Bench.p0, key: [1], value: Array(repeating: 1, count: bytes))
    }

    @Test("A full log refuses, says so, and keeps what it acknowledged; with room it goes on")
    func full() async throws {
        let log = try EmbeddedLog(path, EmbeddedLogConfiguration(byteLimit: 4 << 20))
        #expect(await log.append([Bench.job("first")])[0].offset == 0)
        let results = await log.append([Bench.job("with it"), Self.large(7 << 20)])
        let failures = results.compactMap(\.failure)
        #expect(
            results.allSatisfy { if case .refused = $0 { true } else { false } }
                && failures.map(\.code) == ["log.full", "log.full"])
        #expect(
            failures[0].description.contains("takes no more jobs")
                && failures[0].description.contains("raise log.byteLimit"))
        #expect(await log.append([Bench.job("second")])[0].offset == 1)
        #expect(try await log.read(.jobsFast, Bench.p0, from: 0, limit: 9).map(Bench.text) == ["first", "second"])
        await log.close()
        let larger = try EmbeddedLog(path)
        #expect(await larger.append([Self.large(8 << 20)])[0].offset == 2)
        await larger.close()
    }

    @Test(
        "A full log still takes what takes back: a discard goes in where a job does not, and an owner's own records too"
    )
    func makesRoom() async throws {
        let deadLetter = NewRecord(
            topic: .dead, partition: Bench.p0, key: [1], value: [1], headers: [RecordHeader("ce_id", "a")])
        let first = try EmbeddedLog(path)
        #expect(await first.append([deadLetter, Self.large(3 << 20)]).allSatisfy { $0.offset != nil })
        await first.close()
        let log = try EmbeddedLog(path, EmbeddedLogConfiguration(byteLimit: 3 << 20, reserve: 1 << 20))
        #expect(await log.append([Bench.job("more")])[0].failure?.code == "log.full")
        let read = try await log.read(.dead, Bench.p0, from: 0, limit: 1)
        #expect(await log.append([try #require(Bench.discard(read[0]))])[0].offset == 1)
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        #expect(await log.append([Bench.job("the owner's")])[0].offset == 1)
        // The last record stays, so that the next offset is known; the large one before it goes.
        consumer.commit(.jobsFast, Bench.p0, below: 2)
        await consumer.stop()
        #expect(await log.append([Bench.job("more")])[0].offset == 2)
        await log.close()
    }

    @Test("The reserve is held by a file from the first job on, and given up by nobody but who needs it")
    func reserve() async throws {
        let log = try EmbeddedLog(path, EmbeddedLogConfiguration(reserve: 1 << 20))
        #expect(Bench.size(path + "/reserve") == 0)
        _ = await log.append([Bench.job("a")])
        #expect(Bench.size(path + "/reserve") == 1 << 20 && log.keepsRoom)
        // As older programs held room for each job that waits.
        try Data(count: 3 << 20).write(to: URL(filePath: path + "/reserve"))
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        await consumer.stop()
        #expect(Bench.size(path + "/reserve") == 1 << 20)
        await log.close()
        // More than there is of any disk: publishers are refused, in words.
        let greedy = try EmbeddedLog(path, EmbeddedLogConfiguration(reserve: 1 << 60))
        let failure = await greedy.append([Bench.job("b")])[0].failure
        #expect(failure?.code == "log.full" && failure?.description.contains("lower log.reserve") == true)
        #expect(Bench.size(path + "/reserve") == 1 << 20)
        await greedy.close()
    }

    @Test("A write that fails below SQLite is not acknowledged; the file is opened anew, and nothing else is lost")
    func failedWrite() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [path = path as String] in
            func limitFiles(to bytes: UInt) {
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                limit.rlim_cur = rlim_t(bytes)
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            }
            signal(SIGXFSZ, SIG_IGN)
            let log = try EmbeddedLog(path)
            _ = await log.append([Bench.job("before")])
            limitFiles(to: 1 << 20)
            let failed = await log.append([TroubleTests.large(4 << 20)])[0]
            limitFiles(to: UInt.max)
            let after = await log.append([Bench.job("after")])[0]
            let read = try await log.read(.jobsFast, Bench.p0, from: 0, limit: 9)
            print(failed.offset == nil, after.offset != nil, read.map(Bench.text))
            exit(0)
        }
        #expect(
            String(decoding: result.standardOutputContent, as: UTF8.self).contains(#"true true ["before", "after"]"#))
    }

    @Test("A record over the limit is refused alone")
    func tooLarge() async throws {
        let log = try EmbeddedLog(path)
        let results = await log.append([Bench.job("a"), Self.large(65 << 20), Bench.job("b")])
        #expect(results.map(\.offset) == [0, nil, 1])
        guard case .refused(.tooLarge(.jobsFast, _, let limit)) = results[1] else { throw LogFailure.closed }
        #expect(limit == 64 << 20)
        await log.close()
    }

    @Test("A file that is no log is named, with what to do")
    func damaged() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(repeating: 66, count: 20_000).write(to: URL(filePath: path + "/log.sqlite"))
        let failure = #expect(throws: LogFailure.self) { try EmbeddedLog(path) }
        #expect(failure?.code == "log.unreadable")
        #expect(failure?.description.contains("/log.sqlite cannot be read: file is not a database") == true)
        #expect(failure?.description.contains("Restore the file from a backup") == true)
    }

    enum Loss: CaseIterable, Sendable { case removed, replaced, emptied }

    @Test(
        "A log that goes under who writes it is named: nothing is acknowledged that nobody sees",
        arguments: Loss.allCases)
    func lost(loss: Loss) async throws {
        let log = try EmbeddedLog(path)
        #expect(await log.append([Bench.job("before")])[0].offset == 0)
        let ears = Ears()
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(ears)
        let file = path + "/log.sqlite"
        switch loss {
        case .removed: try FileManager.default.removeItem(atPath: path)
        case .replaced:
            try FileManager.default.copyItem(atPath: file, toPath: path + "/copy")
            #expect(rename(path + "/copy", file) == 0)
        case .emptied: #expect(truncate(file, 0) == 0)
        }
        // Without a ring.
        try await eventually { ears.failure.withLock { $0 } != nil }
        #expect(ears.failure.withLock { $0?.code } == "log.replaced")
        await consumer.stop()
        let refused = await log.append([Bench.job("after")]).first?.failure
        #expect(refused?.code == "log.replaced")
        #expect(FileManager.default.fileExists(atPath: path) == (loss != .removed))
        await log.close()
    }

    @Test("Damage inside the file is a failure of the read that meets it, never a trap")
    func damagedLater() async throws {
        let log = try EmbeddedLog(path)
        _ = await log.append((0..<2_000).map { Bench.job("\($0)") })
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        await consumer.stop()
        await log.close()
        let file = try FileHandle(forUpdating: URL(filePath: path + "/log.sqlite"))
        let end = try file.seekToEnd()
        try file.seek(toOffset: 4_096)
        try file.write(contentsOf: Data(repeating: 0xee, count: Int(end) - 4_096))
        try file.close()
        let failure = await #expect(throws: LogFailure.self) {
            let again = try EmbeddedLog(path)
            _ = try await again.read(.jobsFast, Bench.p0, from: 0, limit: 10)
        }
        #expect(failure?.code == "log.unreadable")
    }

    @Test("A folder that cannot be is named")
    func noFolder() throws {
        try Data().write(to: URL(filePath: folder.file("file")))
        let failure = #expect(throws: LogFailure.self) { try EmbeddedLog(folder.file("file/log")) }
        #expect(failure?.description.contains(folder.file("file/log")) == true)
        #expect(failure?.description.contains("Not a directory") == true)
        #expect(failure?.description.contains("backup") == false)
    }

    @Test("The number of partitions is the file's; another one configured is said, and no number is beyond reason")
    func partitions() async throws {
        let first = try EmbeddedLog(path, EmbeddedLogConfiguration(partitions: 3))
        #expect(first.partitionCount == 3 && first.notices.isEmpty)
        _ = await first.append([Bench.job("x", in: PartitionID(2))])
        await first.close()
        let second = try EmbeddedLog(path, EmbeddedLogConfiguration(partitions: 16))
        #expect(second.partitionCount == 3)
        #expect(second.notices.first?.contains("has 3 partitions, not the 16 of log.partitions") == true)
        await second.close()
        for count in [-1, 0, 257] {
            #expect(throws: LogFailure.self) { try EmbeddedLog(path, EmbeddedLogConfiguration(partitions: count)) }
        }
        let most = try EmbeddedLog(folder.file("most"), EmbeddedLogConfiguration(partitions: 256))
        let consumer = EmbeddedLogConsumer(most)
        try await consumer.start(Ears())
        await consumer.stop()
        await most.close()
    }
}
