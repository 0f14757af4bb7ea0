internal import Ports
internal import Posix
internal import SQLite

extension LogFolder {
    /// The folder as somebody sees it who makes nothing in it and takes no lock.
    struct View: Sendable {
        let layout: LogLayout
        private let path: String
        /// nil where there is no lock file, as in a copy of `log.sqlite`: nobody owns that.
        private let asking: FileLock?
        private let identity: FileSystem.Identity?

        init(_ path: String) throws(LogFailure) {
            self.path = path
            // First: what takes the file's place from here on is another one.
            identity = FileSystem.identity(of: Self.file(path))
            do throws(SystemFailure) { asking = try FileLock(path + "/lock", .asking) } catch {
                guard error.isMissing else { throw LogFailure(error, path: path) }
                asking = nil
            }
            layout = try logged(LogSchema.layout(Self.connection(path).connection))
        }

        /// A reader, and whether it takes SQLite's locks: without them it sees no write that comes later.
        func open() throws(LogFailure) -> (LogReader, isLocking: Bool) {
            let (connection, isLocking) = try logged(Self.connection(path))
            return (try logged(LogReader(connection, layout)), isLocking)
        }

        /// Whether a program has the log open, or had it and left the `-shm` that a reader takes locks in.
        var isShared: Bool { Self.isShared(Self.file(path)) }
        private static func isShared(_ file: String) -> Bool { FileSystem.identity(of: file + "-shm") != nil }

        /// One consistent copy in a new file.
        func copy(to path: String) throws(SQLiteFailure) { try Self.connection(self.path).connection.copy(to: path) }

        var owner: String? { asking.flatMap(LogFolder.owner) }
        var isInPlace: Bool { FileSystem.identity(of: Self.file(path)) == identity }

        var identityOfFolder: FileSystem.Identity? { FileSystem.identity(of: path) }

        private static func file(_ path: String) -> String { path + "/log.sqlite" }

        /// One that cannot be looked at counts: what is in it must not be left out.
        private static func hasWAL(_ file: String) -> Bool {
            do throws(SystemFailure) {
                guard let sight = try FileSystem.sight(of: file + "-wal") else { return false }
                return sight.length > 0
            } catch { return true }
        }

        private static func connection(
            _ path: String
        ) throws(SQLiteFailure) -> (connection: Connection, isLocking: Bool) {
            let file = file(path)
            let connection = try Connection(file, .readOnly)
            connection.checkpointOnlyOnRequest()
            do throws(SQLiteFailure) { _ = try connection.number("PRAGMA user_version") } catch {
                // Where a program has the log open, there is a -shm; where none can be made, none has.
                guard error.isUnopened || error.isInReadOnlyFolder, !isShared(file) else { throw error }
                // A file in WAL mode is read by others only with a WAL, which cannot be made here either.
                return (try Connection(file, hasWAL(file) ? .readOnlyMedia : .immutable), false)
            }
            return (connection, true)
        }
    }
}
