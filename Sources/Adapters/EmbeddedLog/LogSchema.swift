internal import Posix
internal import Records
internal import SQLite

/// The tables of the log's file, and how its connections are set.
enum LogSchema {
    /// Rows may be packed by zstd (5, and 6 where partitions share tables); partitions share tables (4); headers may be short
    /// (3); rows may be packed, and keys short (2). A program refuses a version that it does not know.
    private static let versions: ClosedRange<Int64> = 1...6
    private static let newest: Int64 = 5
    private static func isShared(_ version: Int64) -> Bool { version == 4 || version == 6 }
    private static func newest(isShared: Bool) -> Int64 { isShared ? newest + 1 : newest }
    static let pageSize = 8192
    /// Each has a table for each topic.
    static let partitionCounts = 1...256
    /// Tables whose statements a connection keeps: all of a log whose partitions share tables, or have no more.
    static let openTables = LogLayout.mostTables * Topic.allCases.count
    /// What an offset can be: others are damage, and would be counted up past the last number.
    static let offsets: ClosedRange<Int64> = 0...(1 << 62)

    /// Makes the tables of a new file. Returns the layout that the file has.
    static func create(_ path: String, partitions: Int) throws(SQLiteFailure) -> LogLayout {
        let mark = mark(of: path)
        if FileSystem.length(of: path) ?? 0 == 0 { try? FileSystem.reserve(0, at: mark) }
        let isNew = FileSystem.length(of: mark) != nil
        let connection = try Connection(path, .create)
        connection.checkpointOnlyOnRequest()
        let found = try connection.number("PRAGMA user_version") ?? 0
        // A new log has its tables in the WAL. A file that has pages and no tables is a copy without its WAL, or a program was
        // killed while it made the tables: then it left the mark.
        let isEmpty = try isEmpty(connection)
        if found == 0, isNew || isEmpty {
            // Pages that hold nothing can be given back to the disk (`OpenLog.giveBack`).
            // Jobs and outcomes come in hundreds: pages of 8 KiB take a fifth less time for each than SQLite's 4.
            try connection.execute(
                "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
            try connection.transaction { () throws(SQLiteFailure) in
                for statement in statements(partitions) { try connection.execute(statement) }
            }
        } else {
            try check(found, connection)
            // A restored backup has none: readers and the writer would wait for each other.
            try connection.execute("PRAGMA journal_mode = WAL")
            try addMissing(connection)
        }
        if isNew { _ = try? FileSystem.remove(mark) }
        return try layout(connection)
    }

    /// The layout of a file that a program of a known version made.
    static func layout(_ connection: Connection) throws(SQLiteFailure) -> LogLayout {
        let found = try connection.number("PRAGMA user_version") ?? 0
        if found == 0, try isEmpty(connection) || FileSystem.length(of: mark(of: connection.path)) != nil {
            throw SQLiteFailure(
                path: connection.path, extendedCode: 0,
                message: "it is empty, and the first worker or publisher that starts creates its tables")
        }
        try check(found, connection)
        return LogLayout(partitions: try countedPartitions(connection), isShared: isShared(found))
    }

    /// A file that is there from before the log's first page until its tables are made.
    private static func mark(of path: String) -> String { path + "-new" }

    private static func isEmpty(_ connection: Connection) throws(SQLiteFailure) -> Bool {
        try connection.number("PRAGMA page_count") == 0
    }

    private static func check(_ found: Int64, _ connection: Connection) throws(SQLiteFailure) {
        if found == 0, try !isEmpty(connection) { throw .damaged(connection.path, "it has no tables of a log") }
        if versions.contains(found) { return }
        let why = "its version is \(found), and this program knows \(versions.upperBound)"
        throw found > versions.upperBound ? .newer(connection.path, why) : .damaged(connection.path, why)
    }

    private static func countedPartitions(_ connection: Connection) throws(SQLiteFailure) -> Int {
        var log = try connection.prepare("SELECT partitions FROM log")
        let counts = Int64(partitionCounts.lowerBound)...Int64(partitionCounts.upperBound)
        return Int(try log.step() ? log.integer(0, in: counts) : counts.lowerBound)
    }

    /// A file of an older version lacks the tables of newer topics; older versions leave these alone.
    private static func addMissing(_ connection: Connection) throws(SQLiteFailure) {
        var names = try connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        var found: Set<String> = []
        while try names.step() { found.insert("\"\(names.text(0))\"") }
        names.reset()
        let partitions = try connection.number("SELECT partitions FROM log") ?? 0
        guard partitionCounts.contains(Int(clamping: partitions)) else { return }
        let tables = try layout(connection).tables
        let missing = TablePlace.all(Topic.allCases, of: tables).filter { !found.contains($0.table) }
        if missing.isEmpty { return }
        try connection.transaction { () throws(SQLiteFailure) in
            for statement in missing.flatMap(statements) { try connection.execute(statement) }
        }
    }

    static func prepareForWriting(_ connection: Connection, reserve: Int) throws(SQLiteFailure) {
        connection.checkpointOnlyOnRequest()
        let walBytes = OpenLog.duePages(isOwner: true, reserve: reserve) * pageSize
        // A WAL that was once long is cut when it begins anew. Debian's SQLite writes noughts over every page that is
        // freed: to delete 13 MB of records took 13 MB of WAL, which a full disk has not.
        try connection.execute(
            "PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST; PRAGMA cache_size = -4096; PRAGMA journal_size_limit = \(walBytes)"
        )
    }

    private static func statements(_ partitions: Int) -> [String] {
        let isShared = partitions > LogLayout.mostTables
        let tables = LogLayout(partitions: partitions, isShared: isShared).tables
        return [
            "CREATE TABLE log (partitions INTEGER NOT NULL)",
            "INSERT INTO log VALUES (\(partitions))",
            "CREATE TABLE watermarks (topic TEXT, partition INTEGER, watermark INTEGER NOT NULL, "
                + "PRIMARY KEY (topic, partition)) WITHOUT ROWID",
            "CREATE TABLE epochs (partition INTEGER PRIMARY KEY, epoch INTEGER NOT NULL)",
        ] + TablePlace.all(Topic.allCases, of: tables).flatMap(statements)
            + ["PRAGMA user_version = \(newest(isShared: isShared))"]
    }

    /// Whether no older program reads the log any more.
    static func isNewest(_ connection: Connection) throws(SQLiteFailure) -> Bool {
        try connection.number("PRAGMA user_version") ?? 0 >= newest
    }

    /// By the owner alone, before its first record in a log that an older program made: beside a publisher an older worker
    /// may still run. The log keeps its keys as they are.
    static func markNewest(_ connection: Connection) throws(SQLiteFailure) {
        let found = try connection.number("PRAGMA user_version") ?? 0
        try connection.execute("PRAGMA user_version = \(newest(isShared: isShared(found)))")
    }

    /// Whether the table's keys are short, as its index is named.
    static func hasShortKeys(_ connection: Connection, _ place: TablePlace) throws(SQLiteFailure) -> Bool {
        guard place.topic == .variants else { return false }
        let name = "\"\(place.topic.rawValue).\(place.partition.number).shortKey\""
        // Fails without it: to look for its name among those of 256 partitions takes longer.
        do throws(SQLiteFailure) {
            _ = try connection.prepare("SELECT 1 FROM \(place.table) INDEXED BY \(name) WHERE key = x''")
        } catch {
            guard error.isMisfit else { throw error }
            return false
        }
        return true
    }

    private static func statements(_ place: TablePlace) -> [String] {
        var statements = [
            "CREATE TABLE \(place.table) (offset INTEGER PRIMARY KEY, at INTEGER NOT NULL, key BLOB NOT NULL, "
                + "value BLOB, headers BLOB NOT NULL)"
        ]
        let name = "\(place.topic.rawValue).\(place.partition.number)"
        let key = place.topic == .variants ? "shortKey" : "key"
        if place.topic.hasKeyIndex { statements.append("CREATE INDEX \"\(name).\(key)\" ON \(place.table) (key)") }
        if place.topic.isCompacted {
            statements.append("CREATE INDEX \"\(name).tombstones\" ON \(place.table) (offset) WHERE value IS NULL")
        }
        return statements
    }
}
