internal import CSQLite
internal import Glibc

/// One connection to one SQLite file.
///
/// - Ownership: closes when the last reference is gone, including those of its statements.
/// - Concurrency: opened without SQLite's own locks: one thread at a time, and its statements with it.
package final class Connection: @unchecked Sendable {
    package enum Mode: Sendable {
        /// Reads and writes; creates the file if it is missing, only for this user.
        case create
        case readOnly
        /// Reads a file that cannot be locked, and that cannot have a `-shm` file, for instance on read-only media. The
        /// WAL is read into memory. No other process may write the file meanwhile.
        case readOnlyMedia
        /// Reads only the file, without any lock: it ignores the WAL and creates none. No other process may write the
        /// file meanwhile.
        case immutable
    }

    package let path: String
    let database: OpaquePointer
    /// Number of pages in the WAL after our last commit, including pages of other connections.
    package private(set) var walPages = 0

    /// - Parameter busyMilliseconds: how long to wait for another process's lock before `isBusy`.
    package init(_ path: String, _ mode: Mode, busyMilliseconds: Int32 = 10_000) throws(SQLiteFailure) {
        let access = mode == .create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
        // In exclusive mode the WAL's index is in memory; "unix-none" assumes the locks of that mode.
        let system = mode == .readOnlyMedia ? "unix-none" : nil
        if mode == .create {
            // SQLite would let all users read it, and gives a WAL the mode of its file. An existing file is not opened
            // here: closing it would release this process's locks on it.
            let made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if made >= 0 { close(made) }
        }
        var opened: OpaquePointer?
        let isImmutable = mode == .immutable
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | (isImmutable ? SQLITE_OPEN_URI : 0)
        let name: String = isImmutable ? Self.immutableURI(path) : path
        let code = sqlite3_open_v2(name, &opened, flags, system)
        guard code == SQLITE_OK, let opened else {
            let message = String(cString: opened.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
            let extended = opened.map { sqlite3_extended_errcode($0) } ?? code
            sqlite3_close_v2(opened)
            throw SQLiteFailure(path: path, extendedCode: extended, message: message)
        }
        (self.path, database) = (path, opened)
        sqlite3_extended_result_codes(opened, 1)
        sqlite3_busy_timeout(opened, busyMilliseconds)
        if mode == .readOnlyMedia { try execute("PRAGMA locking_mode = EXCLUSIVE") }
    }

    deinit { sqlite3_close_v2(database) }

    /// SQLite accepts this option only in a URI.
    private static func immutableURI(_ path: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-".utf8)
        let hex = Array("0123456789ABCDEF")
        var escaped = ""
        for byte in path.utf8 {
            if plain.contains(byte) {
                escaped.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                escaped += "%\(hex[Int(byte >> 4)])\(hex[Int(byte & 15)])"
            }
        }
        // An absolute path follows an empty authority.
        return "file:\(path.hasPrefix("/") ? "//" : "")\(escaped)?immutable=1"
    }

    /// Stops automatic checkpoints, after a commit and on closing: for files whose checkpoints have a lock of their
    /// own. From now on `walPages` is counted.
    package func checkpointOnlyOnRequest() {
        _ = mz_sqlite_no_checkpoint_on_close(database)
        let ourselves = Unmanaged.passUnretained(self).toOpaque()
        // Replaces SQLite's own hook, which checkpoints after 1,000 pages.
        sqlite3_wal_hook(
            database,
            { connection, _, _, pages in
                if let connection {
                    Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue().walPages = Int(pages)
                }
                return SQLITE_OK
            }, ourselves)
    }

    /// Runs one or more statements and drops their rows.
    package func execute(_ sql: String) throws(SQLiteFailure) {
        let code = sqlite3_exec(database, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    package func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw failure(code) }
        return Statement(prepared, of: self)
    }

    /// The first column of the first row as a number; nil if there is no row or it is NULL.
    package func number(_ sql: String) throws(SQLiteFailure) -> Int64? {
        var statement = try prepare(sql)
        return try statement.step() ? statement.optionalInteger(0) : nil
    }

    /// Takes the write lock at once, so that a write of others never outdates a read in the transaction.
    package func begin() throws(SQLiteFailure) { try execute("BEGIN IMMEDIATE") }
    package func commit() throws(SQLiteFailure) { try execute("COMMIT") }
    /// Rolls back; safe if SQLite has rolled back by itself.
    package func rollback() { if sqlite3_get_autocommit(database) == 0 { try? execute("ROLLBACK") } }

    package func transaction<Result>(_ body: () throws(SQLiteFailure) -> Result) throws(SQLiteFailure) -> Result {
        try begin()
        do throws(SQLiteFailure) {
            let result = try body()
            try commit()
            return result
        } catch {
            rollback()
            throw error
        }
    }

    package enum Checkpoint: Sendable {
        /// As much as possible without waiting for a reader.
        case passive
        /// All pages, and empties the WAL; waits for readers.
        case truncate
    }

    /// Copies the database as of the last commit to another file, which must be empty or missing. Others may read and
    /// write meanwhile.
    package func copy(to path: String) throws(SQLiteFailure) {
        var copy = try prepare("VACUUM INTO ?1")
        copy.bind(1, path)
        try copy.run()
    }

    /// Moves the WAL into the file. Returns the number of the WAL's pages, and of moved pages.
    @discardableResult
    package func checkpoint(_ mode: Checkpoint) throws(SQLiteFailure) -> (pages: Int, moved: Int) {
        var (pages, moved): (Int32, Int32) = (0, 0)
        let how = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        let code = sqlite3_wal_checkpoint_v2(database, nil, how, &pages, &moved)
        guard code == SQLITE_OK else { throw failure(code) }
        return (Int(pages), Int(moved))
    }

    func failure(_ code: Int32) -> SQLiteFailure {
        SQLiteFailure(path: path, extendedCode: code, message: String(cString: sqlite3_errmsg(database)))
    }
}
