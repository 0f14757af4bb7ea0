internal import Clocks
internal import Glibc
internal import Ports
internal import Posix
internal import Records
internal import SQLite

/// An open index file: its connection and its prepared statements.
///
/// - Concurrency: one owner. No other process opens the file, so its locks are taken once and kept.
final class IndexFile {
    let connection: Connection
    var find: Statement
    var pages: Statement
    var insert: Statement
    var update: Statement
    var delete: Statement
    var setPosition: Statement
    var setProgress: Statement
    let parked: ParkedTable

    /// Version of the tables and of the rows' bytes. Files of `convertible` versions are converted; others are rebuilt.
    private static let version: Int64 = 4
    /// Commit 454fb1b wrote version 2: it has no fingerprints, and larger rows (`RowCoding.Form`). Commit 43cee9c wrote
    /// version 3: its programs call newer forms of rows damaged.
    private static let convertible: [Int64] = [2, 3]

    private init(_ connection: Connection) throws(SQLiteFailure) {
        self.connection = connection
        find = try connection.prepare("SELECT id, body FROM sources WHERE prefix = ?1")
        pages = try connection.prepare("SELECT id, body FROM sources WHERE id > ?1 ORDER BY id LIMIT ?2")
        insert = try connection.prepare("INSERT INTO sources (prefix, body) VALUES (?1, ?2)")
        update = try connection.prepare("UPDATE sources SET body = ?2 WHERE id = ?1")
        delete = try connection.prepare("DELETE FROM sources WHERE id = ?1")
        setPosition = try connection.prepare("INSERT OR REPLACE INTO position VALUES (0, ?1, ~?1, ?2, ?3, ?4, ?5)")
        setProgress = try connection.prepare("INSERT OR REPLACE INTO progress VALUES (0, ?1)")
        parked = try ParkedTable(connection)
    }

    enum Opened {
        /// A readable file, with its checkpoint and its progress row (JSON).
        case sound(IndexFile, IndexCheckpoint?, progress: [UInt8]?)
        /// A file that must not be read, for this reason.
        case unfit(String)
    }

    /// Opens the file, or creates it.
    static func open(_ path: String, cacheBytes: Int) throws(SQLiteFailure) -> Opened {
        let connection = try Connection(path, .create, busyMilliseconds: 2_000)
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -\(cacheBytes / 1024)")
        // Synced at checkpoints only: a kill loses nothing, and a power cut loses rows together with their position.
        try connection.execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4096")
        let found = try connection.number("PRAGMA user_version") ?? 0
        guard found == 0 || found == version || convertible.contains(found) else {
            return .unfit("its version is \(found), not \(version)")
        }
        do throws(SQLiteFailure) {
            if found == 0 { try makeTables(connection) }
            if convertible.contains(found) { try convert(connection, from: found) }
            let file = try IndexFile(connection)
            guard let found = try checkpoint(connection, of: "position") else {
                return .unfit("its position is damaged")
            }
            guard let checkpoint = found else { return .sound(file, nil, progress: nil) }
            var progress = try connection.prepare("SELECT body FROM progress")
            let body = try progress.step() ? progress.bytes(0) : nil
            progress.reset()
            return .sound(file, checkpoint, progress: body)
        } catch {
            guard error.isMisfit else { throw error }
            return .unfit("its tables are not those of version \(found): \(error.message)")
        }
    }

    /// Reads a checkpoint from its table: nil if it is damaged, `.some(nil)` if there is none.
    static func checkpoint(_ connection: Connection, of table: String) throws(SQLiteFailure) -> IndexCheckpoint?? {
        // A restore of `variants` alone asks whether an owner has opened the topic.
        let opened = table == "position" ? "opened" : "1"
        var row = try connection.prepare("SELECT position, inverse, epoch, at, anchors, \(opened) FROM \(table)")
        defer { row.reset() }
        guard try row.step() else { return .some(nil) }
        let (position, inverse) = (row.integer(0), row.integer(1))
        let fingerprints = row.isNull(4) ? nil : row.withBytes(4) { ChangelogFingerprints(packed: $0) }
        let isWhole = row.isNull(4) || fingerprints != nil
        let checkpoint = IndexCheckpoint(
            position: position, epoch: row.integer(2), isOpened: row.integer(5) == 1,
            at: WallTime(milliseconds: row.integer(3)), fingerprints: fingerprints)
        // Invalid numbers are damage, just as two numbers that differ.
        let isSound =
            position == ~inverse && position >= 0 && RecordLimits.epochs.contains(checkpoint.epoch)
            && RecordLimits.times.contains(checkpoint.at) && isWhole && (0...1).contains(row.integer(5))
        return isSound ? .some(checkpoint) : nil
    }

    private static func makeTables(_ connection: Connection) throws(SQLiteFailure) {
        try connection.transaction { () throws(SQLiteFailure) in
            // Each source has one row, in order of arrival, and a small index that stays in memory. Keys are random: a
            // table in their order would cost a page read and two pages written for each restored source.
            try connection.execute(
                """
                CREATE TABLE sources (id INTEGER PRIMARY KEY, prefix INTEGER NOT NULL, body BLOB NOT NULL);
                CREATE INDEX by_prefix ON sources (prefix);
                CREATE TABLE position (id INTEGER PRIMARY KEY, position INTEGER NOT NULL, inverse INTEGER NOT NULL, epoch INTEGER NOT NULL, at INTEGER NOT NULL, anchors BLOB, opened INTEGER NOT NULL DEFAULT 0);
                CREATE TABLE progress (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
                PRAGMA user_version = \(version)
                """)
        }
    }

    /// Converts the tables. Rows keep the old form until they are next written. A program of the old version rebuilds
    /// such a file.
    private static func convert(_ connection: Connection, from found: Int64) throws(SQLiteFailure) {
        try connection.transaction { () throws(SQLiteFailure) in
            if found == 2 {
                try connection.execute(
                    """
                    CREATE TABLE IF NOT EXISTS progress (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
                    ALTER TABLE position ADD COLUMN anchors BLOB
                    """)
            }
            // In these versions, an epoch above 0 counted as an epoch row.
            try connection.execute(
                """
                ALTER TABLE position ADD COLUMN opened INTEGER NOT NULL DEFAULT 0;
                UPDATE position SET opened = epoch > 0;
                PRAGMA user_version = \(version)
                """)
        }
    }

    /// Renames a file with its WAL, which may hold its newest rows; it replaces a file that was renamed so before.
    static func moveAway(_ path: String, as suffix: String = ".damaged") {
        let renamed = path + suffix
        remove(renamed)
        for part in ["", "-wal"] { _ = rename(path + part, renamed + part) }
        remove(path)
    }

    /// Removes the file and its WAL, which must not be taken for a later file's.
    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }
}
