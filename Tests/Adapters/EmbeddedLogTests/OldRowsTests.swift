import Failures
import Foundation
import Ports
import Records
import SQLite
import TestSupport
import Testing

@testable import EmbeddedLog

@Suite("Embedded log: a file that an older program made", .timeLimit(.minutes(1)))
struct OldRowsTests {
    private static let digits = String(repeating: "0123456789abcdef", count: 4)

    private static func row(_ name: String, _ text: String) -> NewRecord {
        NewRecord(
            topic: .variants, partition: Bench.p0, key: Array("\(digits)/\(name)".utf8),
            value: Array("{\"version\":\"\(digits)\",\"text\":\"\(text)\"}".utf8),
            headers: [RecordHeader("ce_id", "\(digits)/\(name)")])
    }

    /// As programs before packed rows made it, with one row of theirs.
    private func make(_ path: String) async throws {
        await (try EmbeddedLog(path, EmbeddedLogConfiguration(partitions: 1))).close()
        let file = try Connection(path + "/log.sqlite", .create)
        try file.execute(
            """
            DROP INDEX "variants.0.shortKey"; CREATE INDEX "variants.0.key" ON "variants.0" (key);
            INSERT INTO "variants.0" VALUES (0, 1, CAST('\(Self.digits)/old' AS BLOB), CAST('first' AS BLOB), x'01610162');
            PRAGMA user_version = 1
            """)
    }

    @Test("Its row is read beside packed ones, replaced by one, and found by its key")
    func rows() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("log")
        try await make(path)
        let log = try EmbeddedLog(path)
        #expect(try await log.read(.variants, Bench.p0, from: 0, limit: 9).map(Bench.text) == ["first"])
        _ = await log.append([Self.row("new", "a"), Self.row("new", "b")])
        let prefix = Array("\(Self.digits)/".utf8)
        let latest = try await log.latest(.variants, Bench.p0, keyPrefix: prefix).map(\.value)
        #expect(latest == [Self.row("new", "b").value, Array("first".utf8)])
        #expect(try await log.read(.variants, Bench.p0, from: 0, limit: 9).map(\.offset) == [0, 2])
        _ = await log.append([Self.row("old", "c")])
        let left = try await log.read(.variants, Bench.p0, from: 0, limit: 9)
        #expect(
            left.map(\.offset) == [2, 3]
                && left.map(\.value) == [Self.row("new", "b").value, Self.row("old", "c").value])
        #expect(left.map(\.headers) == [Self.row("new", "").headers, Self.row("old", "").headers])
        await log.close()
    }

    @Test("A row that 0.1.0 packed is read beside one that is packed now, and replaced by one")
    func packedBefore() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("log")
        await (try EmbeddedLog(path, EmbeddedLogConfiguration(partitions: 1))).close()
        let (old, new) = (RowPackingTests.variant(0), RowPackingTests.variant(1))
        let key = ShortKey.stored(old.key).map { HexByte.digit($0 >> 4).text + HexByte.digit($0 & 15).text }.joined()
        try Connection(path + "/log.sqlite", .create).execute(
            "INSERT INTO \"variants.0\" VALUES (0, 1, x'\(key)', 1, x'\(RowPackingTests.first)'); PRAGMA user_version = 3"
        )
        let log = try EmbeddedLog(path)
        _ = await log.append([new])
        let read = try await log.read(.variants, Bench.p0, from: 0, limit: 9)
        #expect(read.map(\.key) == [old.key, new.key] && read.map(\.value) == [old.value, new.value])
        #expect(read.map(\.headers) == [old.headers, new.headers])
        _ = await log.append([old])
        #expect(try await log.read(.variants, Bench.p0, from: 0, limit: 9).map(\.offset) == [1, 2])
        await log.close()
        let forms = try Connection(path + "/log.sqlite", .readOnly).number(
            "SELECT count(*) FROM \"variants.0\" WHERE value = 2")
        #expect(forms == 2)
    }

    @Test("Older programs are told by its version, and only once an owner has written: one may run beside publishers")
    func version() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("log")
        try await make(path)
        func version() throws -> Int64? {
            try Connection(path + "/log.sqlite", .readOnly).number("PRAGMA user_version")
        }
        let log = try EmbeddedLog(path)
        var job = Bench.job("a job")
        job.headers = EventHeader.kinds[1]
        _ = await log.append([job])
        #expect(try version() == 1)
        _ = await log.append([Self.row("new", "a")])
        #expect(try version() == 5)
        _ = await log.append([job])
        let jobs = try await log.read(.jobsFast, Bench.p0, from: 0, limit: 9)
        #expect(jobs.map(\.headers) == [job.headers, job.headers])
        await log.close()
        await (try EmbeddedLog(path)).close()
    }

    @Test("A version that is not known is named, and the log left alone", arguments: [7, 77])
    func newer(version: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("log")
        await (try EmbeddedLog(path)).close()
        try Connection(path + "/log.sqlite", .create).execute("PRAGMA user_version = \(version)")
        for open in [{ _ = try EmbeddedLog(path) }, { _ = try EmbeddedLogView(path) }] {
            let failure = #expect(throws: LogFailure.self) { try open() }
            #expect(failure?.description.hasSuffix(
                    "its version is \(version), and this program knows 6. Use the programs of the version that wrote it, or newer ones."
                ) == true)
        }
        #expect(try Connection(path + "/log.sqlite", .readOnly).number("PRAGMA user_version") == Int64(version))
    }

    @Test(
        "A row that is packed and damaged is named, and one that is packed in a way that is not known",
        arguments: [
            "headers = x'0101'", "value = 3",
        ])
    func damaged(change: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("log")
        let log = try EmbeddedLog(path, EmbeddedLogConfiguration(partitions: 1))
        _ = await log.append([Self.row("new", "a")])
        await log.close()
        try Connection(path + "/log.sqlite", .create).execute("UPDATE \"variants.0\" SET \(change)")
        let again = try EmbeddedLog(path)
        let failure = await #expect(throws: LogFailure.self) {
            try await again.read(.variants, Bench.p0, from: 0, limit: 9)
        }
        #expect(failure?.code == "log.unreadable" && failure?.description.contains("at 0 are damaged") == true)
        await again.close()
    }
}

extension UInt8 {
    fileprivate var text: String { String(UnicodeScalar(self)) }
}
