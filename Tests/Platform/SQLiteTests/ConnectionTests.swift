import Foundation
import SQLite
import TestSupport
import Testing

@Suite("SQLite: connections, statements, transactions", .timeLimit(.minutes(1)))
struct ConnectionTests {
    let folder: TemporaryFolder
    let connection: Connection

    init() throws {
        folder = try TemporaryFolder()
        connection = try Connection(folder.file("t.sqlite"), .create)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)")
    }

    @Test("What is bound comes back: numbers, bytes, texts, empty ones, and NULL apart from empty")
    func values() throws {
        var row = try connection.prepare("SELECT ?1, ?2, ?3, ?4, ?5, ?6")
        row.bind(1, Int64.min)
        row.bind(2, [0, 255, 1] as [UInt8])
        row.bind(3, [] as [UInt8])
        row.bindNull(4)
        row.bind(5, "grüße")
        row.bind(6, "")
        #expect(try row.step())
        let seen = (row.integer(0), row.bytes(1), row.optionalBytes(2), row.optionalBytes(3), row.text(4), row.isNull(5))
        #expect(seen.0 == .min && seen.1 == [0, 255, 1] && seen.2 == [] && seen.3 == nil)
        #expect(seen.4 == "grüße" && !seen.5)
    }

    @Test("A transaction that throws leaves nothing, and the connection can be used again")
    func rollback() throws {
        #expect(throws: SQLiteFailure.self) {
            try connection.transaction { () throws(SQLiteFailure) in
                try connection.execute("INSERT INTO t VALUES (1, x'00')")
                try connection.execute("INSERT INTO t VALUES (1, x'01')")
            }
        }
        try connection.transaction { () throws(SQLiteFailure) in try connection.execute("INSERT INTO t VALUES (2, NULL)") }
        #expect(try connection.number("SELECT count(*) FROM t") == 1)
    }

    @Test("A failure says what it is: a full file, a damaged one, a locked one")
    func failures() throws {
        _ = try connection.number("PRAGMA max_page_count = 4")
        let full = #expect(throws: SQLiteFailure.self) {
            try connection.execute("INSERT INTO t VALUES (1, randomblob(100000))")
        }
        #expect(full?.isFull == true)

        let damaged = folder.file("damaged.sqlite")
        try Data(repeating: 7, count: 8192).write(to: URL(filePath: damaged))
        let corrupt = #expect(throws: SQLiteFailure.self) { try Connection(damaged, .create).number("PRAGMA user_version") }
        #expect(corrupt?.isCorrupt == true)

        let other = try Connection(folder.file("t.sqlite"), .create, busyMilliseconds: 0)
        let busy = #expect(throws: SQLiteFailure.self) {
            try connection.transaction { () throws(SQLiteFailure) in try other.begin() }
        }
        #expect(busy?.isBusy == true)
    }

    @Test("A file that checkpoints only when told keeps its WAL until then, and counts its pages")
    func checkpoints() throws {
        let path = folder.file("wal.sqlite")
        do {
            let writer = try Connection(path, .create)
            try writer.execute("PRAGMA journal_mode = WAL")
            writer.checkpointOnlyOnRequest()
            try writer.execute("CREATE TABLE t (body BLOB)")
            for _ in 0..<20 { try writer.execute("INSERT INTO t VALUES (randomblob(300000))") }
            #expect(writer.walPages > 1_000)
        }
        let wal = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
        #expect(try #require(wal) > 4_000_000)
        let next = try Connection(path, .create)
        #expect(try next.number("SELECT count(*) FROM t") == 20)
        try next.checkpoint(.truncate)
        #expect(try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int == 0)
    }

    @Test("A read-only connection reads, and may not write")
    func readOnly() throws {
        try connection.execute("INSERT INTO t VALUES (1, x'0102')")
        let reader = try Connection(folder.file("t.sqlite"), .readOnly)
        #expect(try reader.number("SELECT id FROM t") == 1)
        #expect(throws: SQLiteFailure.self) { try reader.execute("DELETE FROM t") }
    }

    @Test("An immutable connection reads a file in WAL mode alone, whatever its name, and makes nothing beside it")
    func immutable() throws {
        let path = folder.file("a b?mode=rw#%41ü.sqlite")
        do {
            let writer = try Connection(path, .create)
            try writer.execute("PRAGMA journal_mode = WAL")
            try writer.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
            try writer.execute("INSERT INTO t VALUES (7)")
        }
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        let reader = try Connection(path, .immutable)
        #expect(try reader.number("SELECT id FROM t") == 7)
        #expect(throws: SQLiteFailure.self) { try reader.execute("DELETE FROM t") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == before)
    }

    @Test("A folder that is read-only is told from a database that is")
    func readOnlyFolder() {
        func failure(_ code: Int32) -> SQLiteFailure { SQLiteFailure(path: "t", extendedCode: code, message: "") }
        #expect(failure(1544).isInReadOnlyFolder)
        #expect(!failure(8).isInReadOnlyFolder && !failure(14).isInReadOnlyFolder)
    }
}
