import Canonical
import Clocks
import Digest
import Foundation
import ImageModel
import Ports
import Records
import SQLite
import TestSupport
import Testing
import VariantSpec

@testable import Index

@Suite("By which rows an index knows its changelog again", .timeLimit(.minutes(1)))
struct ChangelogFingerprintsTests {
    private static func fingerprint(_ offset: Int64) -> RecordFingerprint {
        RecordFingerprint(offset: offset, timestamp: WallTime(milliseconds: 1_000 + offset))
    }

    @Test("The last row is one of them, and the others lie ever farther back")
    func spread() {
        var fingerprints = ChangelogFingerprints()
        #expect(fingerprints.isEmpty)
        for offset in 0..<Int64(10_001) { fingerprints.note(Self.fingerprint(offset)) }
        let offsets = fingerprints.newestFirst.map(\.offset)
        #expect(offsets.first == 10_000 && offsets.count == ChangelogFingerprints.limit)
        #expect(offsets.prefix(4) == [10_000, 9_999, 9_998, 9_996] && (offsets.last ?? 0) == 8_192)
        #expect(fingerprints.noting(ChangelogFingerprints([Self.fingerprint(10_001)])).newestFirst.first == Self.fingerprint(10_001))
        #expect(fingerprints == fingerprints.noting(ChangelogFingerprints([Self.fingerprint(3)])), "an older one says less")
    }

    @Test("They are in the file after a restart; damaged ones are damage of the file")
    func kept() throws {
        let folder = try TemporaryFolder()
        let indexes = SQLiteVariantIndexes(folder.file("index"))
        let partition = PartitionID(3)
        let fingerprints = ChangelogFingerprints((5..<900).map(Self.fingerprint))
        let first = try indexes.open(partition).index
        try first.apply(Rows(1).changes, progress: nil, upTo: 900, epoch: 2, isOpened: true, fingerprints: fingerprints)
        first.close()
        let (again, rebuilt) = try indexes.open(partition)
        #expect(rebuilt == nil && again.checkpoint?.fingerprints == fingerprints)
        again.close()
        try Connection(folder.file("index/3.sqlite"), .create).execute("UPDATE position SET anchors = x'0FFF'")
        #expect(try indexes.open(partition).rebuilt?.contains("its position is damaged") == true)
    }
}

@Suite("An index file that 454fb1b left", .timeLimit(.minutes(1)))
struct OldIndexTests {
    @Test("It is gone on with: its rows are read, and it has anchors from its next row on")
    func converted() throws {
        let folder = try TemporaryFolder()
        let partition = PartitionID(3)
        try FileManager.default.createDirectory(atPath: folder.file("index"), withIntermediateDirectories: true)
        let old = try Connection(folder.file("index/3.sqlite"), .create)
        try old.execute(
            """
            CREATE TABLE sources (id INTEGER PRIMARY KEY, prefix INTEGER NOT NULL, body BLOB NOT NULL);
            CREATE INDEX by_prefix ON sources (prefix);
            CREATE TABLE position (id INTEGER PRIMARY KEY, position INTEGER NOT NULL, inverse INTEGER NOT NULL, epoch INTEGER NOT NULL, at INTEGER NOT NULL);
            INSERT INTO position VALUES (0, 17, ~17, 4, 1000);
            PRAGMA user_version = 2
            """)
        let rows = [Rows(1), Rows(2)]
        var insert = try old.prepare("INSERT INTO sources (prefix, body) VALUES (?1, ?2)")
        for rows in rows {
            insert.bind(1, Int64(bitPattern: rows.key.digest.words.0))
            insert.bind(2, OldRow.bytes(of: rows))
            try insert.run()
        }
        let (index, rebuilt) = try SQLiteVariantIndexes(folder.file("index")).open(partition)
        #expect(rebuilt == nil && index.position == 17 && index.checkpoint?.epoch == 4 && index.checkpoint?.isOpened == true)
        #expect(index.checkpoint?.fingerprints == nil && index.progress == nil)
        for rows in rows {
            let snapshot = try index.snapshot(of: rows.key)
            #expect(snapshot.source == rows.source && snapshot.variants == rows.variants)
        }
        try index.apply([.dropVariant(rows[0].key, rows[0].variants[0].spec)], upTo: 18)
        #expect(try index.snapshot(of: rows[0].key).variants == Array(rows[0].variants[1...]))
        #expect(index.checkpoint?.fingerprints == nil)
    }
}

/// A source's rows as programs before version 3 of the file wrote them.
private enum OldRow {
    static func bytes(of rows: Rows) -> [UInt8] {
        var bytes = RowBytes(capacity: 1_024)
        bytes.put(rows.key.digest)
        bytes.put(true)
        let source = rows.source
        bytes.put(source.url)
        bytes.put(word: source.version.word)
        bytes.put(source.size)
        bytes.put(source.format.rawValue)
        bytes.put(source.bytes)
        bytes.put(source.digest)
        bytes.put(source.hasAlpha)
        bytes.put(source.frames)
        bytes.put(source.original != nil)
        if let original = source.original { bytes.put(original) }
        bytes.put(source.fetchedAt)
        bytes.put(source.expires)
        bytes.put(rows.variants.count)
        for row in rows.variants {
            bytes.put(row.spec)
            bytes.put(word: row.version.word)
            bytes.put(row.size)
            bytes.put(row.bytes)
            bytes.put(row.digest)
            bytes.put(row.location)
            bytes.put(false)
            bytes.put(row.sourceSize)
            bytes.put(row.region)
            bytes.put(row.hasAlpha)
            bytes.put(row.storedAt)
            bytes.put(row.expires)
            bytes.put(row.frames)
            bytes.put(row.quality)
            bytes.put(row.placeholder)
            bytes.put([UInt8]())
            bytes.put(false)
        }
        bytes.put(word: bytes.bytes.withUnsafeBytes { RowCoding.checkWord($0, .full) })
        return bytes.bytes
    }
}
