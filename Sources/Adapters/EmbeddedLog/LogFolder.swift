internal import Clocks
internal import Glibc
internal import Ports
internal import Posix
internal import SQLite

/// The log's files in its folder, and the locks between the processes that use them.
///
/// SQLite 3.40.1 can lose a WAL to two connections that write or checkpoint at once, so every write transaction and
/// every checkpoint is done under the write lock, and nothing checkpoints by itself.
///
/// - Concurrency: the write lock is taken by the writer's thread only.
final class LogFolder: Sendable {
    let path: String
    let file: String
    let layout: LogLayout
    let bell: WakeFile
    let reserve: LogReserve
    /// Of the file that was opened.
    private let identity: FileSystem.Identity?
    private let locks: FileLock
    /// A second opening, to ask about the owner: a file's own locks do not show through itself.
    private let asking: FileLock

    /// The lock file's bytes.
    private enum Lock {
        static let write = 0
        static let owner = 1
    }

    /// Opens the log in `path`, making what is missing.
    init(_ path: String, _ configuration: EmbeddedLogConfiguration) throws(LogFailure) {
        let partitions = configuration.partitions
        guard LogSchema.partitionCounts.contains(partitions) else {
            throw .unavailable(reason: "a log has \(LogSchema.partitionCounts) partitions, not \(partitions)")
        }
        self.path = path
        file = path + "/log.sqlite"
        do throws(SystemFailure) {
            try Folder.makePrivate(path)
            locks = try FileLock(path + "/lock")
            asking = try FileLock(path + "/lock")
            bell = try WakeFile(path + "/wake", watching: false)
        } catch { throw LogFailure(error, path: path) }
        let (file, reserve) = (file, LogReserve(path: path + "/reserve", bytes: configuration.reserve))
        self.reserve = reserve
        (layout, identity) = try Self.withWriteLock(locks, path) { () throws(LogFailure) in
            do throws(SQLiteFailure) {
                return (try LogSchema.create(file, partitions: partitions), FileSystem.identity(of: file))
            } catch {
                guard error.isFull || error.isInputOutput, reserve.release() else { throw LogFailure(error) }
            }
            return (try logged(LogSchema.create(file, partitions: partitions)), FileSystem.identity(of: file))
        }
    }

    /// Throws where the file is not the one that was opened, or nothing is left in it: SQLite goes on with one that nobody
    /// sees any more.
    func checkPlace() throws(LogFailure) {
        let sight: (identity: FileSystem.Identity, length: Int)?
        do throws(SystemFailure) { sight = try FileSystem.sight(of: file) } catch {
            throw LogFailure(error, path: path)
        }
        guard let sight, sight.identity == identity, sight.length > 0 else { throw .replaced(path: path) }
    }

    /// A connection that may write, under the write lock.
    func openForWriting(reserve: Int) throws(SQLiteFailure) -> Connection {
        let connection = try Connection(file, .create)
        try LogSchema.prepareForWriting(connection, reserve: reserve)
        return connection
    }

    func openForReading() throws(SQLiteFailure) -> Connection {
        let connection = try Connection(file, .readOnly)
        connection.checkpointOnlyOnRequest()
        return connection
    }

    var partitionCount: Int { layout.partitions }

    func withWriteLock<Result>(_ body: () throws(LogFailure) -> Result) throws(LogFailure) -> Result {
        try Self.withWriteLock(locks, path, body)
    }

    /// Makes this process the owner, or says who is.
    func takeOwnership() throws(LogFailure) {
        let isOurs: Bool
        do throws(SystemFailure) {
            isOurs = try locks.tryLock(Lock.owner)
            if isOurs { try note() }
        } catch { throw LogFailure(error, path: path) }
        guard isOurs else { throw .locked(path: path, by: locks.note) }
    }

    /// For people: a full disk that has no room for it keeps nobody from the work that frees it.
    private func note() throws(SystemFailure) {
        do throws(SystemFailure) {
            try locks.setNote("pid \(getpid()), since \(SystemTime.text(SystemTime.wall))")
        } catch  where error.isOutOfSpace {}
    }

    func releaseOwnership() { locks.unlock(Lock.owner) }

    /// Who owns the log now, for people; nil if nobody.
    var owner: String? { Self.owner(asking) }
    static func owner(_ asking: FileLock) -> String? { asking.isHeldElsewhere(Lock.owner) ? asking.note : nil }

    func watchedBell() throws(LogFailure) -> WakeFile {
        do throws(SystemFailure) { return try WakeFile(path + "/wake", watching: true) } catch {
            throw LogFailure(error, path: path)
        }
    }

    private static func withWriteLock<Result>(
        _ locks: FileLock, _ path: String, _ body: () throws(LogFailure) -> Result
    ) throws(LogFailure) -> Result {
        do throws(SystemFailure) { try locks.lock(Lock.write) } catch { throw LogFailure(error, path: path) }
        defer { locks.unlock(Lock.write) }
        return try body()
    }
}
