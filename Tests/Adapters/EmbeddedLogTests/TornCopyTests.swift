import EmbeddedLog
import Failures
import Foundation
import Glibc
import Ports
import Records
import SQLite
import TestSupport
import Testing

/// A copy of the file alone, made while a checkpoint ran: some of its pages are older than others.
@Suite("Embedded log: a torn copy of its file", .timeLimit(.minutes(1)))
struct TornCopyTests {
    @Test("A table whose last rows stand before its first is damage that is named, at every door")
    func swapped() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("log")
        let log = try EmbeddedLog(path)
        _ = await log.append((0..<2_000).map { Bench.job("job \($0)") })
        await log.close()
        try Self.swapEnds(of: "jobs.fast.0", in: path + "/log.sqlite")
        let view = try EmbeddedLogView(path)
        let torn = try EmbeddedLog(path)
        var failures: [LogFailure?] = []
        func failure(_ body: () async throws -> Void) async throws {
            do {
                try await body()
                failures.append(nil)
            } catch let failure as LogFailure { failures.append(failure) }
        }
        try await failure { _ = try await torn.bounds(.jobsFast, Bench.p0) }
        try await failure { _ = try await torn.partitionOffsets(Topic.consumed, torn.partitions) }
        try await failure { _ = try await torn.read(.jobsFast, Bench.p0, from: 0, limit: 5_000) }
        try await failure { _ = try await view.offsets(of: [LogPoint(.jobsFast, Bench.p0, nil)])[0].get() }
        let owner = Owner(EmbeddedLogConsumer(torn))
        try await owner.start()
        try await failure { _ = try await owner.drain(.jobsFast, Bench.p0, limit: 5_000) }
        await owner.stop()
        await view.close()
        await torn.close()
        #expect(failures.count == 5)
        for failure in failures {
            let text = try #require(failure).description
            #expect(failure?.code == "log.unreadable" && text.contains(path + "/log.sqlite"), "\(text)")
            #expect(text.contains("Restore the file from a backup made by 'mezzotint log backup FILE'"), "\(text)")
        }
    }

    /// Seen to fail: the tables were made anew in the copy, and its jobs were gone.
    @Test("A copy of a young log without its WAL has no tables: it is refused, and nothing is written into it")
    func bare() async throws {
        let folder = try TemporaryFolder()
        let log = try EmbeddedLog(folder.file("log"))
        _ = await log.append([Bench.job("a")])
        let path = folder.file("copy")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: folder.file("log/log.sqlite"), toPath: path + "/log.sqlite")
        await log.close()
        let before = try Data(contentsOf: URL(filePath: path + "/log.sqlite"))
        #expect(before.count > 0)
        for open in [{ _ = try EmbeddedLogView(path) }, { _ = try EmbeddedLog(path) }] as [() throws -> Void] {
            #expect {
                try open()
            } throws: {
                ($0 as? LogFailure)?.code == "log.unreadable" && "\($0)".contains("Restore the file from a backup")
            }
        }
        #expect(try Data(contentsOf: URL(filePath: path + "/log.sqlite")) == before)
    }

    @Test(
        "A file that a killed first start left without tables gets them, and a reader says that it has none yet",
        arguments: [true, false])
    func young(hasPage: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("log")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let file = path + "/log.sqlite"
        let sql = hasPage ? "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL" : ""
        try Connection(file, .create).execute(sql)
        #expect((try Data(contentsOf: URL(filePath: file)).count > 0) == hasPage)
        if hasPage { try Data().write(to: URL(filePath: file + "-new")) }
        #expect {
            _ = try EmbeddedLogView(path)
        } throws: {
            "\($0)".contains("it is empty, and the first worker or publisher that starts creates its tables")
        }
        let log = try EmbeddedLog(path)
        #expect(await log.append([Bench.job("a")])[0].offset == 0)
        await log.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).allSatisfy { !$0.hasSuffix("-new") })
    }

    @Test("With a reserve, an offset past the last number is damage, not a trap of the count of waiting jobs")
    func counted() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("log")
        let first = try EmbeddedLog(path)
        _ = await first.append([Bench.job("a")])
        await first.close()
        try Connection(path + "/log.sqlite", .create).execute(
            "UPDATE \"jobs.slow.0\" SET offset = 1; INSERT INTO \"jobs.slow.0\" VALUES (9223372036854775807, 0, x'', x'', x'')"
        )
        let log = try EmbeddedLog(path, EmbeddedLogConfiguration(reserve: 64 << 10))
        #expect(await log.append([Bench.job("b")])[0].failure?.code == "log.unreadable")
        await log.close()
    }

    @Test(
        "A page of another partition of the same table is damage that is named, wherever it stands", arguments: [0, 1])
    func shared(child: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("log")
        let log = try EmbeddedLog(path, EmbeddedLogConfiguration(partitions: 32))
        for partition in [PartitionID(3), PartitionID(19)] {
            _ = await log.append((0..<1_000).map { Bench.job("job \($0)", in: partition) })
        }
        await log.close()
        try Self.swapEnds(of: "jobs.fast.3", in: path + "/log.sqlite", first: child)
        let view = try EmbeddedLogView(path)
        var offset: Int64 = 0
        await #expect {
            while case let records = try await view.read(.jobsFast, PartitionID(3), from: offset, limit: 100),
                let last = records.last
            {
                offset = last.offset + 1
            }
        } throws: {
            ($0 as? LogFailure)?.code == "log.unreadable" && "\($0)".contains("Restore the file from a backup")
        }
        #expect(offset < 1_000)
        await view.close()
    }

    /// Exchanges the first page, or the one after it, and the last page of a table whose root is an interior page.
    static func swapEnds(of table: String, in file: String, first child: Int = 0) throws {
        let connection = try Connection(file, .create)
        let root = try connection.number("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'")
        let size = try connection.number("PRAGMA page_size")
        try connection.checkpoint(.truncate)
        let page = (Int(try #require(root)) - 1) * Int(try #require(size))
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        #expect(bytes[page] == 5, "an interior page of a table")
        let cell = page + 12 + 2 * child
        let first = page + Int(bytes[cell]) << 8 + Int(bytes[cell + 1])
        for place in 0..<4 { bytes.swapAt(first + place, page + 8 + place) }
        try Data(bytes).write(to: URL(filePath: file))
    }
}
